#include "nccl_api/calls/falling_back.hpp"

#include <cstdio>
#include <mutex>

namespace dfccl::nccl {

void tellOfFallingBack(const RealNccl& real, const char* why) {
  static std::once_flag isTold;
  std::call_once(isTold, [&] {
    std::fprintf(stderr, "dfccl: communicators go to %s, in which orders matter: %s\n", real.path().c_str(), why);
  });
}

}  // namespace dfccl::nccl
