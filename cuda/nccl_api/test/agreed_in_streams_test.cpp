#include "nccl_api/calls/agreed_in_streams.hpp"

#include <doctest/doctest.h>

using dfccl::nccl::agreedInStreams;
using dfccl::nccl::Arrival;

namespace {

constexpr uint64_t kBytes = 1000;

/// Of a process of its own each, unless said otherwise; on a device with 132 multiprocessors.
std::vector<Arrival> arrivals(size_t ranks, uint32_t queues = 32) {
  std::vector<Arrival> all(ranks);
  for (size_t r = 0; r < ranks; ++r) {
    all[r].process = r;
    all[r].mostBytesInStreams = kBytes;
    all[r].hardwareQueues = queues;
    all[r].roomForRuns = 128;
  }
  return all;
}

std::vector<Arrival> ofOneProcess(size_t ranks, uint32_t queues = 32) {
  std::vector<Arrival> all = arrivals(ranks, queues);
  for (Arrival& one : all) one.process = 7;
  return all;
}

uint64_t mostBytesInStreams(const std::vector<Arrival>& all, bool areOpen) {
  return agreedInStreams(all, areOpen).mostBytes;
}

}  // namespace

TEST_CASE("a communicator's kernels have as many blocks as the rank allows that allows fewest") {
  std::vector<Arrival> all = arrivals(3);
  CHECK(agreedInStreams(all, false).mostBlocks == 0);
  all[1].mostBlocksInStreams = 8;
  CHECK(agreedInStreams(all, false).mostBlocks == 8);
  all[2].mostBlocksInStreams = 3;
  CHECK(agreedInStreams(all, false).mostBlocks == 3);
}

TEST_CASE("a communicator's kernels in streams are as large as the rank allows that allows least") {
  std::vector<Arrival> all = arrivals(3);
  CHECK(mostBytesInStreams(all, false) == kBytes);
  all[1].mostBytesInStreams = 10;
  CHECK(mostBytesInStreams(all, false) == 10);
  all[2].mostBytesInStreams = 0;
  CHECK(mostBytesInStreams(all, false) == 0);
}

TEST_CASE("there are none where streams that wait keep each other's hardware queues") {
  CHECK(mostBytesInStreams(arrivals(2, 4), false) == kBytes);
  CHECK(mostBytesInStreams(arrivals(2, 3), false) == 0);
  CHECK(mostBytesInStreams(ofOneProcess(2, 31), false) == 0);
  std::vector<Arrival> onTwoDevices = ofOneProcess(2, 8);
  onTwoDevices[1].device = 1;
  CHECK(mostBytesInStreams(onTwoDevices, false) == kBytes);
}

// 17 multiprocessors a daemon, and one for each of 32 queues.
TEST_CASE("there are none where the ranks' daemons leave too few multiprocessors") {
  CHECK(mostBytesInStreams(ofOneProcess(5), false) == kBytes);
  CHECK(mostBytesInStreams(ofOneProcess(6), false) == 0);
  // Those that are there already are not counted again.
  CHECK(mostBytesInStreams(ofOneProcess(6), true) == kBytes);
  std::vector<Arrival> small = ofOneProcess(6);
  for (Arrival& one : small) one.mostBlocks = 3;
  CHECK(mostBytesInStreams(small, false) == kBytes);
  std::vector<Arrival> crowded = arrivals(2);
  crowded[1].roomForRuns = 48;
  CHECK(mostBytesInStreams(crowded, false) == 0);
}
