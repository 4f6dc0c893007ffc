#pragma once
#include <cstdint>
#include <string>

#include "processes/rendezvous_options.hpp"

namespace dfccl::test {

/// A rank of a small world that meets: all that come with these agree.
inline RendezvousOptions meetingOf(const std::string& job, uint32_t rank, uint32_t ranks,
                                   uint32_t timeoutMillis = 20'000) {
  RendezvousOptions options;
  options.job = job;
  options.rank = rank;
  options.timeoutMillis = timeoutMillis;
  options.shape = {"1.0", ranks, 1, 64, 128, 32 << 10, 64 << 10, size_t{1} << 28, 0};
  return options;
}

}  // namespace dfccl::test
