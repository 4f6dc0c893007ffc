// Runs that are kernels in their streams.
#include "in_streams.hpp"

using namespace dfccl::gpu::test;

TEST_CASE("what follows a run in its stream comes behind it, without being told to wait") {
  const GpuRanks ranks;
  const GroupsInStreams groups(ranks);
  for (const size_t count : {size_t{1}, size_t{300}, kMostBytesInStreams / sizeof(int32_t) / 8}) {
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

TEST_CASE("what runs write is for their streams alone where a member says so") {
  constexpr size_t kCount = 3000;
  const GpuRanks ranks;
  const GroupsInStreams groups(ranks, dfcclForItsStream);
  const std::vector<Member> members = membersWith(ranks, kCount);
  std::vector<dfcclRequest_t> requests(static_cast<size_t>(ranks.size()));
  for (uint64_t round = 0; round < 50; ++round) {
    for (int r = 0; r < ranks.size(); ++r) {
      const Member& m = members[static_cast<size_t>(r)];
      m.output.fill(-1);
      m.fill();
      CHECK_OK(sum(m, kCount, groups[r], round % 3, m.stream, &requests[static_cast<size_t>(r)]));
      CHECK_OK(dfcclWaitRunOnStream(requests[static_cast<size_t>(r)], m.stream));
      m.read();
    }
    if (round == 0) {
      const Stream reader(ranks.device(0));
      CHECK(dfcclWaitRunOnStream(requests[0], reader) == dfcclUnavailable);
      CHECK(std::string(dfcclGetLastError()).find("dfcclForItsStream") != std::string::npos);
    }
    int isOver = 0;
    while (isOver == 0) CHECK_OK(dfcclTestRun(requests[0], &isOver));
    if (round == 0) {
      const Stream reader(ranks.device(0));
      CHECK(dfcclWaitRunOnStream(requests[0], reader) == dfcclUnavailable);
      CHECK_OK(dfcclWaitRunOnStream(requests[0], members[0].stream));
    }
    CHECK_OK(dfcclWaitRuns(requests.data(), ranks.size(), 0));
    for (const Member& m : members) {
      CHECK(m.stream.synchronize());
      CHECK(m.output.isAll(sumOfInputs(ranks)));
    }
  }
}

TEST_CASE("a stream that captures doesn't wait for a run in a stream, and goes on capturing") {
  for (const dfcclReaders_t readers : {dfcclForAll, dfcclForItsStream}) {
    constexpr size_t kCount = 16;
    const GpuRanks ranks;
    const GroupsInStreams groups(ranks, readers);
    const std::vector<Member> members = membersWith(ranks, kCount);
    const Stream other(ranks.device(0));
    dfcclRequest_t request = nullptr;
    CHECK_OK(sum(members[0], kCount, groups[0], 0, members[0].stream, &request));
    cudaSetDevice(ranks.device(0));
    for (const cudaStream_t capturing :
         {static_cast<cudaStream_t>(other), static_cast<cudaStream_t>(members[0].stream)}) {
      cudaGraph_t graph = nullptr;
      REQUIRE(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed) == cudaSuccess);
      CHECK(dfcclWaitRunOnStream(request, capturing) == dfcclInvalidArgument);
      CHECK(cudaStreamEndCapture(capturing, &graph) == cudaSuccess);
      CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    }
    for (int r = 1; r < ranks.size(); ++r) {
      CHECK_OK(sum(members[static_cast<size_t>(r)], kCount, groups[r], 0, members[static_cast<size_t>(r)].stream));
    }
    CHECK_OK(dfcclWaitRun(request, 0));
    CHECK_OK(ranks.waitAll());
  }
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
  CHECK_OK(ranks.waitAll());  // who has told of the end may not be done with that
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
  constexpr size_t kSmall = 64, kLarge = 2 * kMostBytesInStreams / sizeof(int32_t);
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
