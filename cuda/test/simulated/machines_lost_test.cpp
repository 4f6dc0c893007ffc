// Ranks on GPUs of several machines that end, or fall silent, while others wait for them.
#include <doctest/doctest.h>
#include <signal.h>

#include "simulated/machine_ranks.hpp"
#include "simulated/survive.hpp"

using namespace dfccl::gpu::simulated::test;

TEST_CASE("a rank of another machine that is killed, or stopped for too long, is named; the others go on without it") {
  for (const auto& [signal, count] : {std::pair{SIGKILL, 400'000ul}, std::pair{SIGSTOP, 1000ul}}) {
    CAPTURE(signal);
    const std::string job = newJob();
    const OwnPort port;
    loseRank1(signal, [&, signal = signal, count = count](uint32_t rank, int ready) -> int {
      setLaunch(job, port.number(), rank, {3, 1});
      Joined me;
      EXPECT(joinLaunched(me, signal == SIGSTOP ? kMuteMillis : 0) == kFine);
      return survive(me, count, ready);
    });
  }
}
