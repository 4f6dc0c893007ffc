// Runs that are kernels in their streams.
#include <memory>

#include "groups.hpp"
#include "stream_members.hpp"

using namespace dfccl::gpu::test;

namespace {

constexpr size_t kMostBytes = 64 << 10;

/// A group whose runs are kernels in streams.
struct GroupsInStreams : Groups {
  explicit GroupsInStreams(const GpuRanks& ranks) : Groups(ranks) {
    for (int r = 0; r < ranks.size(); ++r) CHECK_OK(dfcclGroupRunInStreams((*this)[r], kMostBytes));
  }
};

std::vector<Member> membersWith(const GpuRanks& ranks, size_t count) {
  std::vector<Member> members;
  for (int r = 0; r < ranks.size(); ++r) members.emplace_back(ranks, r, count);
  return members;
}

dfcclResult_t sum(const Member& m, size_t count, dfcclGroup_t group, uint64_t tag, cudaStream_t stream,
                  dfcclRequest_t* request = nullptr) {
  return dfcclAllReduce(m.send.data(), m.recv.data(), count, dfcclInt32, dfcclSum, group, tag, stream, request);
}

}  // namespace

TEST_CASE("what follows a run in its stream comes behind it, without being told to wait") {
  const GpuRanks ranks;
  const GroupsInStreams groups(ranks);
  for (const size_t count : {size_t{1}, size_t{300}, kMostBytes / sizeof(int32_t) / 8}) {
    const std::vector<Member> members = membersWith(ranks, count);
    for (int round = 0; round < 20; ++round) {
      for (int r = 0; r < ranks.size(); ++r) {
        const Member& m = members[static_cast<size_t>(r)];
        m.output.fill(-1);
        m.fill();
        CHECK_OK(sum(m, count, groups[r], 0, m.stream));
        m.read();
      }
      for (const Member& m : members) {
        CHECK(m.stream.synchronize());
        CHECK(m.output.isAll(sumOfInputs(ranks)));
      }
    }
  }
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("other streams, and the host, wait for a run in a stream by its request") {
  constexpr size_t kCount = 100;
  const GpuRanks ranks;
  const GroupsInStreams groups(ranks);
  const std::vector<Member> members = membersWith(ranks, kCount);
  Barrier barrier;
  std::vector<dfcclRequest_t> requests(static_cast<size_t>(ranks.size()));
  for (int r = 0; r < ranks.size(); ++r) {
    const Member& m = members[static_cast<size_t>(r)];
    if (r == 0) barrier.hold(m.stream);
    m.fill();
    CHECK_OK(sum(m, kCount, groups[r], 0, m.stream, &requests[static_cast<size_t>(r)]));
  }
  const Stream reader(ranks.device(0));
  CHECK_OK(dfcclWaitRunOnStream(requests[0], reader));
  const Member& first = members[0];
  REQUIRE(cudaMemcpyAsync(first.output.data(), first.recv.data(), first.output.bytes(), cudaMemcpyDeviceToHost,
                          reader) == cudaSuccess);
  CHECK(dfcclWaitRun(requests[0], 2000) == dfcclTimeout);
  CHECK(std::string(dfcclGetLastError()).find("rank 0 waits for its stream") != std::string::npos);
  CHECK(cudaStreamQuery(reader) == cudaErrorNotReady);
  barrier.open();
  CHECK(reader.synchronize());
  CHECK(first.output.isAll(sumOfInputs(ranks)));
  CHECK_OK(dfcclWaitRuns(requests.data(), ranks.size(), 0));
}

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

TEST_CASE("a run in a stream that a rank doesn't come to ends when its group is given up") {
  constexpr size_t kCount = 10;
  const GpuRanks ranks;
  const GroupsInStreams groups(ranks);
  const std::vector<Member> members = membersWith(ranks, kCount);
  const Member& m = members[0];
  m.fill();
  dfcclRequest_t request = nullptr;
  CHECK_OK(sum(m, kCount, groups[0], 0, m.stream, &request));
  CHECK(dfcclWaitRun(request, 2000) == dfcclTimeout);
  CHECK(std::string(dfcclGetLastError()).find("rank 1 has not submitted it") != std::string::npos);
  CHECK(cudaStreamQuery(m.stream) == cudaErrorNotReady);
  CHECK_OK(dfcclGroupAbort(groups[0]));
  CHECK(dfcclWaitRun(request, 0) == dfcclAborted);
  CHECK(m.stream.synchronize());
}

// As many as a rank has tables for: those that are over make room, and come back.
TEST_CASE("signatures in streams are forgotten, and go on where they were") {
  constexpr size_t kCount = 8;
  constexpr uint32_t kCollectives = 16;
  const GpuRanks ranks(2, 1, 2, kCollectives);
  const GroupsInStreams groups(ranks);
  const std::vector<Member> members = membersWith(ranks, kCount);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t tag = 0; tag < 3 * kCollectives; ++tag) {
      for (int r = 0; r < ranks.size(); ++r) {
        const Member& m = members[static_cast<size_t>(r)];
        m.fill();
        CHECK_OK(sum(m, kCount, groups[r], tag, m.stream));
        m.read();
      }
      for (const Member& m : members) {
        CHECK(m.stream.synchronize());
        CHECK(m.output.isAll(sumOfInputs(ranks)));
        m.output.fill(-1);
      }
      CHECK_OK(ranks.waitAll());
    }
  }
}

TEST_CASE("runs in streams and others of the same group go on beside each other") {
  constexpr size_t kSmall = 64, kLarge = 2 * kMostBytes / sizeof(int32_t);
  const GpuRanks ranks;
  const GroupsInStreams groups(ranks);
  const std::vector<Member> small = membersWith(ranks, kSmall), large = membersWith(ranks, kLarge);
  for (int round = 0; round < 10; ++round) {
    for (int r = 0; r < ranks.size(); ++r) {
      const Member &s = small[static_cast<size_t>(r)], &l = large[static_cast<size_t>(r)];
      s.fill();
      l.fill();
      // In another order on each rank: neither waits for the other.
      dfcclRequest_t request = nullptr;
      if (r == 0) CHECK_OK(sum(s, kSmall, groups[r], 0, s.stream));
      CHECK_OK(sum(l, kLarge, groups[r], 0, l.stream, &request));
      CHECK_OK(dfcclWaitRunOnStream(request, l.stream));
      CHECK_OK(dfcclFreeRequest(request));
      if (r != 0) CHECK_OK(sum(s, kSmall, groups[r], 0, s.stream));
      s.read();
      l.read();
    }
    for (int r = 0; r < ranks.size(); ++r) {
      for (const Member* m : {&small[static_cast<size_t>(r)], &large[static_cast<size_t>(r)]}) {
        CHECK(m->stream.synchronize());
        CHECK(m->output.isAll(sumOfInputs(ranks)));
      }
    }
  }
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("a run in no stream is refused where the group's are in streams") {
  constexpr size_t kCount = 10;
  const GpuRanks ranks;
  const GroupsInStreams groups(ranks);
  const std::vector<Member> members = membersWith(ranks, kCount);
  CHECK(sum(members[0], kCount, groups[0], 0, nullptr) == dfcclInvalidArgument);
  CHECK(std::string(dfcclGetLastError()).find("Pass a stream.") != std::string::npos);
  CHECK_OK(ranks.waitAll());
}
