// Runs that are kernels in streams wait on multiprocessors, of which a device has so many: where they fill it, those
// that their peers wait for must still begin.
#include "host/rank/waiting_room.hpp"

#include "child.hpp"
#include "in_streams.hpp"
#include "simulated/unkindness.hpp"

using namespace dfccl::gpu::test;
using dfccl::gpu::simulated::unkindness;

namespace {

constexpr size_t kStreams = 24, kRunsOfStream = 8, kRuns = kStreams * kRunsOfStream, kElements = 20;

struct RankOfStreams {
  explicit RankOfStreams(int device) {
    for (size_t i = 0; i < kStreams; ++i) streams.emplace_back(device);
    for (size_t i = 0; i < kRuns; ++i) buffers.emplace_back(device, kElements);
  }
  std::vector<dfccl::gpu::test::Stream> streams;
  std::vector<DeviceArray<int32_t>> buffers;  // [run]
};

/// A batch in each stream, the streams in one order on one rank and the other way around on the other.
void runBatches() {
  const GpuRanks ranks(2);
  const GroupsInStreams groups(ranks);
  std::vector<RankOfStreams> members;
  for (int r = 0; r < ranks.size(); ++r) members.emplace_back(ranks.device(r));
  for (int r = 0; r < ranks.size(); ++r) {
    RankOfStreams& mine = members[static_cast<size_t>(r)];
    for (DeviceArray<int32_t>& buffer : mine.buffers) buffer.set(std::vector<int32_t>(kElements, r + 1));
    for (size_t s = 0; s < kStreams; ++s) {
      const size_t stream = r == 0 ? s : kStreams - 1 - s;
      CHECK_OK(dfcclBatchBegin());
      for (size_t i = stream * kRunsOfStream; i < (stream + 1) * kRunsOfStream; ++i) {
        int32_t* const data = mine.buffers[i].data();
        CHECK_OK(
            dfcclAllReduce(data, data, kElements, dfcclInt32, dfcclSum, groups[r], i, mine.streams[stream], nullptr));
      }
      CHECK_OK(dfcclBatchEnd(nullptr));
    }
  }
  for (const RankOfStreams& mine : members) {
    for (const dfccl::gpu::test::Stream& stream : mine.streams) CHECK(stream.synchronize());
    for (const DeviceArray<int32_t>& buffer : mine.buffers) CHECK(buffer.get() == std::vector<int32_t>(kElements, 3));
  }
  CHECK_OK(ranks.waitAll());
}

const Child running("batches in many streams", runBatches);

// A daemon's blocks, four for others, a run in each of 32 queues, and four that kernels of several runs share.
constexpr const char* kMultiprocessors = "48";

ChildEnd runOnDevice(const char* boasts, std::chrono::seconds limit) {
  return runSelf({},
                 {{"DFCCL_TEST_CHILD", "batches in many streams"},
                  {"CUDA_DEVICE_MAX_CONNECTIONS", "32"},
                  {"SIMULATED_DEVICES", "2"},
                  {"SIMULATED_MULTIPROCESSORS", kMultiprocessors},
                  {"SIMULATED_BOASTS", boasts}},
                 limit);
}

}  // namespace

TEST_CASE("kernels of several runs share what room there is, those of one stream the same") {
  dfccl::gpu::WaitingRoom room;
  constexpr uint32_t kBeside = 4;
  auto first = room.take({.stream = 1, .fewest = 1, .wanted = 3}, kBeside);
  REQUIRE(first != nullptr);
  CHECK(first->runs == 3);
  CHECK(room.take({.stream = 1, .fewest = 1, .wanted = 8}, kBeside)->runs == 5);
  const auto second = room.take({.stream = 2, .fewest = 1, .wanted = 8}, kBeside);
  CHECK(second->runs == 3);
  CHECK(room.take({.stream = 3, .fewest = 1, .wanted = 8}, kBeside) == nullptr);
  // Ranks that share a stream, whose parts of a run are not parted, take more than there is.
  const auto shared = room.take({.stream = 3, .fewest = 3, .wanted = 8}, kBeside);
  CHECK(shared->runs == 3);
  first.reset();
  CHECK(room.take({.stream = 4, .fewest = 1, .wanted = 8}, kBeside) == nullptr);
}

TEST_CASE("runs in streams go on where those that wait would fill the device") {
  const ChildEnd end = runOnDevice("0", std::chrono::seconds(60));
  CHECK(end.hasEnded);
  CHECK(end.code == 0);
}

TEST_CASE("control: where nobody knows how many have room, they don't") {
  CHECK_FALSE(runOnDevice("1", std::chrono::seconds(4)).hasEnded);
}
