// Runs in streams that are alike and in one batch: a kernel carries them out one after the other.
#include "mailbag.hpp"

using namespace dfccl::gpu;
using namespace dfccl::gpu::test;

namespace {

// A block's, several blocks', and what goes directly.
constexpr size_t kAlikeCounts[] = {1, 9001, kLargeCount};

/// A rank's buffers for one of the runs.
std::vector<std::vector<Member>> membersOfRuns(const GpuRanks& ranks, int runs, size_t count) {
  std::vector<std::vector<Member>> members;  // [run][rank]
  for (int i = 0; i < runs; ++i) {
    members.push_back(membersWith(ranks, count));
    for (int r = 0; r < ranks.size(); ++r) members.back()[static_cast<size_t>(r)].input.fill((i + 1) * (r + 1));
  }
  return members;
}

void fillAll(const std::vector<std::vector<Member>>& members) {
  for (const std::vector<Member>& run : members) {
    for (const Member& m : run) m.fill();
    for (const Member& m : run) CHECK(m.stream.synchronize());
  }
}

/// And what there is of them is gone.
void checkSums(const GpuRanks& ranks, const std::vector<std::vector<Member>>& members) {
  for (size_t i = 0; i < members.size(); ++i) {
    for (const Member& m : members[i]) {
      CHECK(m.recv.get() ==
            std::vector<int32_t>(m.input.bytes() / sizeof(int32_t), static_cast<int32_t>(i + 1) * sumOfInputs(ranks)));
      m.recv.set(std::vector<int32_t>(m.input.bytes() / sizeof(int32_t), -1));
    }
  }
}

}  // namespace

TEST_CASE("alike runs of a batch match in the order of the calls, beside others") {
  constexpr int kRuns = 7;
  for (const int size : {2, 3}) {
    const GpuRanks ranks(size);
    const GroupsInStreams groups(ranks, dfcclForItsStream, kMostLargeBytes);
    for (const size_t count : kAlikeCounts) {
      INFO(size, " ranks, ", count, " elements");
      const std::vector<std::vector<Member>> members = membersOfRuns(ranks, kRuns, count);
      fillAll(members);
      for (int round = 0; round < 20; ++round) {
        for (int r = 0; r < size; ++r) {
          const auto at = static_cast<size_t>(r);
          const cudaStream_t stream = members[0][at].stream;
          CHECK_OK(dfcclBatchBegin());
          // All of one signature but the fourth.
          for (size_t i = 0; i < kRuns; ++i) CHECK_OK(sum(members[i][at], count, groups[r], i == 3 ? 1 : 0, stream));
          CHECK_OK(dfcclBatchEnd(nullptr));
        }
        for (int r = 0; r < size; ++r) CHECK(members[0][static_cast<size_t>(r)].stream.synchronize());
        checkSums(ranks, members);
      }
    }
    CHECK_OK(ranks.waitAll());
  }
}

TEST_CASE("a batch may have more alike runs than a kernel takes") {
  constexpr int kRuns = 60;
  const GpuRanks ranks(2);
  const GroupsInStreams groups(ranks, dfcclForAll);
  const std::vector<std::vector<Member>> members = membersOfRuns(ranks, kRuns, 100);
  fillAll(members);
  for (int r = 0; r < 2; ++r) {
    const auto at = static_cast<size_t>(r);
    CHECK_OK(dfcclBatchBegin());
    for (const std::vector<Member>& run : members) CHECK_OK(sum(run[at], 100, groups[r], 0, members[0][at].stream));
    CHECK_OK(dfcclBatchEnd(nullptr));
  }
  for (int r = 0; r < 2; ++r) CHECK(members[0][static_cast<size_t>(r)].stream.synchronize());
  checkSums(ranks, members);
  CHECK_OK(ranks.waitAll());
}

// Whoever receives batches other calls together than whoever sends.
TEST_CASE("alike messages of a batch wait for nothing else that it has") {
  const GpuRanks ranks(2);
  const GroupsInStreams groups(ranks, dfcclForItsStream, kMostLargeBytes);
  const Mailbag bag(ranks), second(ranks), answer(ranks);
  for (const size_t count : kAlikeCounts) {
    INFO(count, " elements");
    for (int round = 0; round < 5; ++round) {
      const std::pair<const Mailbag*, int> bags[] = {{&bag, 0}, {&second, 100}, {&answer, 200}};
      for (const auto& [each, shift] : bags) {
        for (int r = 0; r < 2; ++r) each->fill(r, round + shift);
      }
      CHECK_OK(dfcclBatchBegin());
      for (const Mailbag* each : {&bag, &second}) {
        CHECK_OK(dfcclSend(each->from(0), count, dfcclInt32, 1, groups[0], 0, bag.stream(0), nullptr));
      }
      CHECK_OK(dfcclRecv(answer.to(0), count, dfcclInt32, 1, groups[0], 7, bag.stream(0), nullptr));
      CHECK_OK(dfcclBatchEnd(nullptr));
      CHECK_OK(dfcclBatchBegin());
      for (const Mailbag* each : {&bag, &second}) {
        CHECK_OK(dfcclRecv(each->to(1), count, dfcclInt32, 0, groups[1], 0, bag.stream(1), nullptr));
      }
      CHECK_OK(dfcclBatchEnd(nullptr));
      CHECK_OK(dfcclSend(answer.from(1), count, dfcclInt32, 0, groups[1], 7, bag.stream(1), nullptr));
      bag.synchronize();
      CHECK(bag.hasGot(1, 0, count, round));
      CHECK(second.hasGot(1, 0, count, round + 100));
      CHECK(answer.hasGot(0, 1, count, round + 200));
    }
  }
  CHECK_OK(ranks.waitAll());
}

// The streams of one rank only change, and not behind the same calls.
TEST_CASE("alike runs of a batch may be in several streams, and in those of other ranks") {
  constexpr int kRuns = 6;
  constexpr size_t kCount = 500;
  const GpuRanks ranks(2);
  if (ranks.device(0) != ranks.device(1)) return skip("needs ranks that share a device");
  const GroupsInStreams groups(ranks);
  for (int pattern = 0; pattern < 1 << kRuns; pattern += 5) {
    INFO("pattern ", pattern);
    const std::vector<std::vector<Member>> members = membersOfRuns(ranks, kRuns, kCount);
    fillAll(members);
    CHECK_OK(dfcclBatchBegin());
    for (size_t i = 0; i < kRuns; ++i) {
      const bool isOwn = (pattern >> i & 1) != 0;
      CHECK_OK(sum(members[i][0], kCount, groups[0], 0, members[0][0].stream));
      CHECK_OK(sum(members[i][1], kCount, groups[1], 0, members[0][isOwn ? 1 : 0].stream));
    }
    CHECK_OK(dfcclBatchEnd(nullptr));
    for (const Member& m : members[0]) CHECK(m.stream.synchronize());
    checkSums(ranks, members);
  }
  CHECK_OK(ranks.waitAll());
}

// Each rank's in a batch of its own: nobody knows the other's.
TEST_CASE("batches that are alike end, whichever streams each rank has for them") {
  constexpr int kRuns = 8, kStreams = 3;
  constexpr size_t kCount = 300;
  const GpuRanks ranks(2);
  const GroupsInStreams groups(ranks, dfcclForItsStream, kMostLargeBytes);
  std::mt19937 random(5);
  const std::vector<std::vector<Member>> members = membersOfRuns(ranks, kRuns, kCount);
  fillAll(members);
  for (int program = 0; program < 60; ++program) {
    INFO("program ", program);
    std::vector<uint64_t> tags;
    for (int i = 0; i < kRuns; ++i) tags.push_back(random() % 3);
    for (int r = 0; r < 2; ++r) {
      const auto at = static_cast<size_t>(r);
      CHECK_OK(dfcclBatchBegin());
      for (size_t i = 0; i < kRuns; ++i) {
        const cudaStream_t stream = members[random() % kStreams][at].stream;
        CHECK_OK(sum(members[i][at], kCount, groups[r], tags[i], stream));
      }
      CHECK_OK(dfcclBatchEnd(nullptr));
    }
    for (const std::vector<Member>& run : members) {
      for (const Member& m : run) CHECK(m.stream.synchronize());
    }
    checkSums(ranks, members);
  }
  CHECK_OK(ranks.waitAll());
}

// Long after blocks have lost their patience: what is left of a kernel is its first block's.
TEST_CASE("alike runs whose peers come late are carried out") {
  constexpr int kRuns = 4;
  const GpuRanks ranks(2);
  const GroupsInStreams groups(ranks, dfcclForItsStream, kMostLargeBytes);
  for (const size_t count : kAlikeCounts) {
    INFO(count, " elements");
    const std::vector<std::vector<Member>> members = membersOfRuns(ranks, kRuns, count);
    fillAll(members);
    for (int round = 0; round < 20; ++round) {
      Barrier barrier;
      for (int r = 0; r < 2; ++r) {
        const auto at = static_cast<size_t>(r);
        const cudaStream_t stream = members[0][at].stream;
        if (r == round % 2) barrier.hold(stream);
        CHECK_OK(dfcclBatchBegin());
        for (const std::vector<Member>& run : members) CHECK_OK(sum(run[at], count, groups[r], 0, stream));
        CHECK_OK(dfcclBatchEnd(nullptr));
      }
      outwaitStays();
      barrier.open();
      for (int r = 0; r < 2; ++r) CHECK(members[0][static_cast<size_t>(r)].stream.synchronize());
      checkSums(ranks, members);
    }
  }
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("alike runs of a batch end when their group is given up") {
  constexpr int kRuns = 3;
  for (const size_t count : kAlikeCounts) {
    const GpuRanks ranks(2);
    const GroupsInStreams groups(ranks, dfcclForItsStream, kMostLargeBytes);
    const std::vector<std::vector<Member>> members = membersOfRuns(ranks, kRuns, count);
    dfcclRequest_t requests[kRuns] = {};
    CHECK_OK(dfcclBatchBegin());
    for (size_t i = 0; i < kRuns; ++i) {
      CHECK_OK(sum(members[i][0], count, groups[0], 0, members[0][0].stream, &requests[i]));
    }
    CHECK_OK(dfcclBatchEnd(nullptr));
    CHECK_OK(dfcclGroupAbort(groups[0]));
    for (const dfcclRequest_t each : requests) CHECK(dfcclWaitRun(each, 0) == dfcclAborted);
    CHECK(members[0][0].stream.synchronize());
    CHECK_OK(ranks.waitAll());
  }
}
