// Runs that are kernels in their streams, in what order they match and are launched.
#include <memory>

#include "in_streams.hpp"

using namespace dfccl::gpu::test;

TEST_CASE("runs of one signature match in the order of the calls, whichever streams they are in") {
  constexpr size_t kCount = 64;
  const GpuRanks ranks;
  const GroupsInStreams groups(ranks);
  const std::vector<Member> ones = membersWith(ranks, kCount), others = membersWith(ranks, kCount);
  for (int round = 0; round < 20; ++round) {
    Barrier barrier;
    for (int r = 0; r < ranks.size(); ++r) {
      const Member &a = ones[static_cast<size_t>(r)], &b = others[static_cast<size_t>(r)];
      b.input.fill(10 * (r + 1));
      if (r == 0) barrier.hold(a.stream);  // so its second call's stream comes first
      for (const Member* m : {&a, &b}) {
        m->fill();
        CHECK_OK(sum(*m, kCount, groups[r], 0, m->stream));
        m->read();
      }
    }
    barrier.open();
    for (int r = 0; r < ranks.size(); ++r) {
      const Member &a = ones[static_cast<size_t>(r)], &b = others[static_cast<size_t>(r)];
      CHECK(a.stream.synchronize());
      CHECK(b.stream.synchronize());
      CHECK(a.output.isAll(sumOfInputs(ranks)));
      CHECK(b.output.isAll(10 * sumOfInputs(ranks)));
    }
  }
  CHECK_OK(ranks.waitAll());
}

// More than a kernel takes, and some of them twice.
TEST_CASE("a batch's runs in one stream are under way at once, in any order") {
  constexpr size_t kCount = 50;
  constexpr int kRuns = 60, kTags = 55;
  const GpuRanks ranks;
  const GroupsInStreams groups(ranks);
  std::mt19937 random(1);
  std::vector<std::vector<Member>> members;  // [run][rank]
  for (int i = 0; i < kRuns; ++i) members.push_back(membersWith(ranks, kCount));
  for (int round = 0; round < 5; ++round) {
    for (int r = 0; r < ranks.size(); ++r) {
      const cudaStream_t stream = members[0][static_cast<size_t>(r)].stream;
      CHECK_OK(dfcclBatchBegin());
      for (const int i : shuffledIds(kRuns, random)) {
        const Member& m = members[static_cast<size_t>(i)][static_cast<size_t>(r)];
        CHECK(cudaMemcpyAsync(m.send.data(), m.input.data(), m.input.bytes(), cudaMemcpyHostToDevice, stream) ==
              cudaSuccess);
        CHECK_OK(sum(m, kCount, groups[r], static_cast<uint64_t>(i % kTags), stream));
      }
      CHECK_OK(dfcclBatchEnd(nullptr));
    }
    for (int r = 0; r < ranks.size(); ++r) {
      const auto at = static_cast<size_t>(r);
      CHECK(members[0][at].stream.synchronize());
      for (const std::vector<Member>& run : members) {
        CHECK(run[at].recv.get() == std::vector<int32_t>(kCount, sumOfInputs(ranks)));
      }
    }
  }
  CHECK_OK(ranks.waitAll());
}

// Streams have other numbers on each rank.
TEST_CASE("a batch's runs of one signature match in the order of the calls, whichever streams they are in") {
  constexpr size_t kCount = 64;
  const GpuRanks ranks(2);
  const GroupsInStreams groups(ranks);
  std::vector<std::unique_ptr<Member>> ones(2), others(2);
  for (int r = 0; r < 2; ++r) {
    const auto at = static_cast<size_t>(r);
    for (const bool isOther : {r == 0, r != 0}) {
      (isOther ? others : ones)[at] = std::make_unique<Member>(ranks, r, kCount);
    }
    others[at]->input.fill(10 * (r + 1));
  }
  for (int r = 0; r < 2; ++r) {
    const Member &one = *ones[static_cast<size_t>(r)], &other = *others[static_cast<size_t>(r)];
    one.fill();
    other.fill();
    CHECK_OK(dfcclBatchBegin());
    CHECK_OK(sum(one, kCount, groups[r], 0, one.stream));
    CHECK_OK(sum(other, kCount, groups[r], 1, other.stream));
    CHECK_OK(sum(other, kCount, groups[r], 0, other.stream));
    CHECK_OK(sum(one, kCount, groups[r], 1, one.stream));
    CHECK_OK(dfcclBatchEnd(nullptr));
  }
  CHECK_OK(ranks.waitAll());
  for (int r = 0; r < 2; ++r) {
    CHECK(ones[static_cast<size_t>(r)]->recv.get() == std::vector<int32_t>(kCount, 3));
    CHECK(others[static_cast<size_t>(r)]->recv.get() == std::vector<int32_t>(kCount, 30));
  }
}

// As many as daemons have places for, and more; and behind others of those that wait for a place.
TEST_CASE("any number of runs in streams may be outstanding") {
  constexpr size_t kCount = 4, kLarge = 2 * kMostBytesInStreams / sizeof(int32_t);
  constexpr int kStreams = 4, kEach = 400;
  const GpuRanks ranks(2);
  const GroupsInStreams groups(ranks);
  const std::vector<Member> small = membersWith(ranks, kCount), large = membersWith(ranks, kLarge);
  std::vector<Stream> streams;
  // By one thread: the first rank's before any of the other's.
  for (int r = 0; r < 2; ++r) {
    const auto at = static_cast<size_t>(r);
    for (int i = 0; i < kStreams * kEach; ++i) {
      CHECK_OK(sum(large[at], kLarge, groups[r], 0, large[at].stream));
    }
    for (int i = 0; i < kStreams; ++i) {
      streams.emplace_back(ranks.device(r));
      for (int run = 0; run < kEach; ++run) {
        CHECK_OK(sum(small[at], kCount, groups[r], static_cast<uint64_t>(i), streams.back()));
      }
    }
  }
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("runs of one signature match across the default streams of devices") {
  if (!hasTwoGpus()) return;
  constexpr size_t kCount = 16;
  const GpuRanks ranks(2);
  const GroupsInStreams groups(ranks);
  const std::vector<Member> ones = membersWith(ranks, kCount), others = membersWith(ranks, kCount);
  for (int r = 0; r < 2; ++r) others[static_cast<size_t>(r)].input.fill(10 * (r + 1));
  for (const Member& m : others) {
    m.fill();
    CHECK(m.stream.synchronize());
  }
  Barrier barrier;
  barrier.hold(ones[1].stream);
  ones[0].fill();
  CHECK_OK(sum(ones[0], kCount, groups[0], 0, ones[0].stream));
  CHECK_OK(sum(others[0], kCount, groups[0], 0, ones[0].stream));
  ones[1].fill();
  CHECK_OK(sum(ones[1], kCount, groups[1], 0, ones[1].stream));
  cudaSetDevice(ranks.device(0));  // not the rank's
  CHECK_OK(sum(others[1], kCount, groups[1], 0, cudaStreamLegacy));
  outwaitStays();
  barrier.open();
  CHECK_OK(ranks.waitAll());
  CHECK(ones[1].recv.get() == std::vector<int32_t>(kCount, 3));
  CHECK(others[1].recv.get() == std::vector<int32_t>(kCount, 30));
}

// An even number of places in a kernel, and an odd one before the pairs.
TEST_CASE("ranks that share a stream have their parts of a run in one kernel") {
  constexpr size_t kCount = 16;
  constexpr int kRuns = 40, kSelf = 0;
  const GpuRanks ranks(2);
  if (ranks.device(0) != ranks.device(1)) return skip("needs ranks that share a device");
  const GroupsInStreams groups(ranks);
  dfcclGroup_t alone = nullptr;
  CHECK_OK(dfcclGroupCreate(&kSelf, 1, 77, &alone, ranks[0]));
  CHECK_OK(dfcclGroupRunInStreams(alone, kMostBytesInStreams, 0, dfcclForAll));
  std::vector<std::vector<Member>> members;  // [run][rank]
  for (int i = 0; i <= kRuns; ++i) members.push_back(membersWith(ranks, kCount));
  const Stream shared(ranks.device(0));
  CHECK_OK(dfcclBatchBegin());
  CHECK_OK(sum(members[kRuns][0], kCount, alone, 0, shared));
  for (int i = 0; i < kRuns; ++i) {
    for (int r = 0; r < 2; ++r) {
      const Member& m = members[static_cast<size_t>(i)][static_cast<size_t>(r)];
      m.fill();
      CHECK(m.stream.synchronize());
      CHECK_OK(sum(m, kCount, groups[r], static_cast<uint64_t>(i), shared));
    }
  }
  CHECK_OK(dfcclBatchEnd(nullptr));
  CHECK(shared.synchronize());
  CHECK(members[0][0].recv.get() == std::vector<int32_t>(kCount, 3));
  CHECK_OK(ranks.waitAll());
  CHECK_OK(dfcclGroupDestroy(alone));
}
