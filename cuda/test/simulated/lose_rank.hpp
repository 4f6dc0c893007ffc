#pragma once
// Ranks that are processes, of which one is killed or stopped amid what they do.
#include <doctest/doctest.h>
#include <unistd.h>

#include "processes/support/processes.hpp"
#include "simulated/ok.hpp"

namespace dfccl::gpu::simulated::test {

using namespace dfccl::test;

/// Three ranks go on until rank 1, which has run a while by then, gets the signal.
template <class Survive>
inline void loseRank1(int signal, const Survive& goOn) {
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  Processes processes(3, [&](uint32_t rank) { return goOn(rank, ready[1]); });
  close(ready[1]);  // so that reading ends if the rank does
  char byte;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  processes.send(1, signal);
  CHECK(processes.join(0) == kFine);
  CHECK(processes.join(2) == kFine);
  close(ready[0]);
}

}  // namespace dfccl::gpu::simulated::test
