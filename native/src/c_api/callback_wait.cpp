#include "c_api/callback_wait.hpp"

#include <sched.h>
#include <time.h>

#include "base/error.hpp"
#include "os/tick_clock.hpp"

namespace dfccl::c_api {

void waitForCallback(const Request& request, dfcclRequest_t handle, uint64_t timeoutMicros, uint64_t begin) {
  constexpr uint32_t kLooksBeforeRest = 2000;
  constexpr timespec kRest{0, 50'000};
  for (uint32_t looks = 0; !request.isSettled(); ++looks) {
    if (request.handle.load(order::acquire) != reinterpret_cast<uint64_t>(handle)) return;
    if (timeoutMicros != 0 && readTicks() - begin > static_cast<double>(timeoutMicros) * ticksPerMicrosecond()) {
      throw Error(dfcclTimeout, "The run is over, and its callback has not returned in time.",
                  "Let the callback come to its end, and wait again.");
    }
    if (looks < kLooksBeforeRest) {
      sched_yield();
    } else {
      nanosleep(&kRest, nullptr);
    }
  }
}

}  // namespace dfccl::c_api
