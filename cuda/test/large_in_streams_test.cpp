// Runs in streams that are so large that their members move straight from and to each other's buffers.
#include "large_runs.hpp"

using namespace dfccl::gpu::test;

TEST_CASE("large runs in streams have the right results, out of place and in place") {
  for (const int size : {2, 3}) {
    const GpuRanks ranks(size);
    const GroupsInStreams groups(ranks, dfcclForAll, kMostLargeBytes);
    const std::vector<LargeBuffers> buffers = buffersOf(ranks);
    for (const LargeForm form : kLargeForms) {
      for (const bool isInPlace : {false, true}) {
        for (int round = 0; round < 3; ++round) checkForm(ranks, groups, buffers, form, isInPlace, round);
      }
    }
    CHECK_OK(ranks.waitAll());
  }
}

TEST_CASE("large runs of graphs have the right results, launch by launch") {
  const GpuRanks ranks(3);
  const Groups groups(ranks);
  const std::vector<LargeBuffers> buffers = buffersOf(ranks);
  for (const LargeForm form : kLargeForms) {
    INFO("form ", static_cast<int>(form));
    std::vector<Graph> graphs;
    for (int r = 0; r < ranks.size(); ++r) {
      const LargeBuffers& b = buffers[static_cast<size_t>(r)];
      const LargeSide side{form, r, ranks.size()};
      giveFirstWork(b.stream, b.recv.data());
      graphs.emplace_back(ranks.device(r), b.stream, [&] {
        dfcclRequest_t request = nullptr;
        CHECK_OK(side.run(b.send.data(), b.recv.data(), groups[r], b.stream, &request));
        CHECK_OK(dfcclWaitRunOnStream(request, b.stream));
        CHECK_OK(dfcclFreeRequest(request));
      });
    }
    for (int round = 0; round < 3; ++round) {
      for (int r = 0; r < ranks.size(); ++r) {
        const LargeBuffers& b = buffers[static_cast<size_t>(r)];
        const LargeSide side{form, r, ranks.size(), round};
        b.send.set(inputsOf(side, side.sendSegments() * kLargeCount));
      }
      for (int r = 0; r < ranks.size(); ++r)
        graphs[static_cast<size_t>(r)].launch(buffers[static_cast<size_t>(r)].stream);
      for (int r = 0; r < ranks.size(); ++r) {
        const LargeBuffers& b = buffers[static_cast<size_t>(r)];
        CHECK(b.stream.synchronize());
        checkResult({form, r, ranks.size(), round}, b.recv.get(), 0);
      }
    }
  }
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("runs of kernels of few blocks are right, and refused where ranks don't have the same number") {
  const GpuRanks ranks(3);
  const std::vector<LargeBuffers> buffers = buffersOf(ranks);
  for (const int blocks : {1, 5}) {
    const GroupsInStreams groups(ranks, dfcclForAll, kMostLargeBytes, blocks);
    for (const LargeForm form : {LargeForm::allReduce, LargeForm::allGather}) {
      for (int round = 0; round < 2; ++round) checkForm(ranks, groups, buffers, form, false, round);
    }
    const std::vector<Member> small = membersWith(ranks, 5000);
    for (int r = 0; r < ranks.size(); ++r) {
      const Member& m = small[static_cast<size_t>(r)];
      m.fill();
      CHECK_OK(sum(m, 5000, groups[r], 9, m.stream));
      m.read();
    }
    for (const Member& m : small) {
      CHECK(m.stream.synchronize());
      CHECK(m.output.isAll(sumOfInputs(ranks)));
    }
    CHECK_OK(ranks.waitAll());
  }
  const GroupsInStreams groups(ranks, dfcclForAll, kMostLargeBytes, 4);
  CHECK_OK(dfcclGroupRunInStreams(groups[1], kMostLargeBytes, 8, dfcclForAll));
  const std::vector<Member> members = membersWith(ranks, kLargeCount);
  CHECK_OK(sum(members[0], kLargeCount, groups[0], 0, members[0].stream));
  CHECK(sum(members[1], kLargeCount, groups[1], 0, members[1].stream) == dfcclRegistrationMismatch);
  CHECK(std::string(dfcclGetLastError()).find("mostBlocks 8, but another rank registered 4") != std::string::npos);
  CHECK_OK(dfcclGroupAbort(groups[0]));
  CHECK(members[0].stream.synchronize());
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("large reductions of other types, operators and places, of more ranks than are summed up at once") {
  constexpr size_t kBytes = 1'200'000;
  const GpuRanks ranks(5, 1, 2);
  const GroupsInStreams groups(ranks, dfcclForAll, kMostLargeBytes);
  std::vector<LargeBuffers> buffers = buffersOf(ranks);
  const auto check = [&]<class T>(dfcclDataType_t type, dfcclRedOp_t op, T mine, T expected) {
    INFO("type ", static_cast<int>(type));
    constexpr size_t count = kBytes / sizeof(T) - 3;
    for (int r = 0; r < ranks.size(); ++r) {
      const LargeBuffers& b = buffers[static_cast<size_t>(r)];
      std::vector<int32_t> raw(b.count);
      T* const values = reinterpret_cast<T*>(raw.data());
      std::fill_n(values + 1, count, static_cast<T>(mine * static_cast<T>(r + 1)));
      b.send.set(raw);
    }
    for (int r = 0; r < ranks.size(); ++r) {
      const LargeBuffers& b = buffers[static_cast<size_t>(r)];
      // Each begins an element behind where its memory does, and nobody's ends with a line.
      CHECK_OK(dfcclAllReduce(reinterpret_cast<T*>(b.send.data()) + 1, reinterpret_cast<T*>(b.recv.data()) + 1, count,
                              type, op, groups[r], 0, b.stream, nullptr));
    }
    for (const LargeBuffers& b : buffers) {
      CHECK(b.stream.synchronize());
      const std::vector<int32_t> raw = b.recv.get();
      const T* const values = reinterpret_cast<const T*>(raw.data());
      CHECK(std::all_of(values + 1, values + 1 + count, [&](T value) { return value == expected; }));
    }
  };
  check(dfcclInt8, dfcclSum, int8_t{3}, int8_t{45});
  check(dfcclUint8, dfcclMax, uint8_t{40}, uint8_t{200});
  check(dfcclFloat32, dfcclAvg, 1.5F, 4.5F);
  check(dfcclFloat64, dfcclMin, 0.25, 0.25);
  check(dfcclInt64, dfcclProd, int64_t{2}, int64_t{32 * 120});
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("a program may have many more large signatures than a landing area of each would let it") {
  constexpr size_t kMost = 300'000;
  const GpuRanks ranks(4, 1, 2, 0, size_t{128} << 20);
  const GroupsInStreams groups(ranks, dfcclForAll, kMostLargeBytes);
  const std::vector<Member> members = membersWith(ranks, kMost);
  for (size_t count = kMost - 80; count <= kMost; ++count) {
    for (int r = 0; r < ranks.size(); ++r) {
      const Member& m = members[static_cast<size_t>(r)];
      m.fill();
      CHECK_OK(sum(m, count, groups[r], 0, m.stream));
    }
  }
  for (const Member& m : members) {
    m.read();
    CHECK(m.stream.synchronize());
    CHECK(m.output.isAll(sumOfInputs(ranks)));
  }
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("large runs in streams that are given up move nothing behind their end") {
  for (int round = 0; round < 10; ++round) {
    const GpuRanks ranks;
    const GroupsInStreams groups(ranks, dfcclForAll, kMostLargeBytes);
    const std::vector<Member> members = membersWith(ranks, kLargeCount);
    std::vector<dfcclRequest_t> requests(members.size());
    // The last one doesn't come, or comes when the others are given up.
    const int last = ranks.size() - 1;
    for (int r = 0; r < last; ++r) {
      const Member& m = members[static_cast<size_t>(r)];
      m.fill();
      CHECK_OK(sum(m, kLargeCount, groups[r], 0, m.stream, &requests[static_cast<size_t>(r)]));
    }
    std::thread late([&] {
      if (round % 2 != 0) return;
      const Member& m = members[static_cast<size_t>(last)];
      sum(m, kLargeCount, groups[last], 0, m.stream, &requests[static_cast<size_t>(last)]);
    });
    CHECK_OK(dfcclGroupAbort(groups[0]));
    late.join();
    const dfcclResult_t ended = dfcclWaitRun(requests[0], 0);
    CHECK((ended == dfcclAborted || ended == dfcclSuccess));
    CHECK(members[0].stream.synchronize());
    // From here on its buffers are its caller's.
    const std::vector<int32_t> mine(kLargeCount, -7);
    members[0].recv.set(mine);
    for (int r = 1; r < ranks.size(); ++r) {
      CHECK_OK(dfcclGroupAbort(groups[r]));
      if (requests[static_cast<size_t>(r)] != nullptr) dfcclWaitRun(requests[static_cast<size_t>(r)], 0);
      CHECK(members[static_cast<size_t>(r)].stream.synchronize());
    }
    CHECK(members[0].recv.get() == mine);
  }
}
