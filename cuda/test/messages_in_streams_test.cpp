// Messages that are kernels in their streams, and uneven collectives, which are made of some.
#include "mailbag.hpp"

using namespace dfccl::gpu;
using namespace dfccl::gpu::test;

namespace {

// None, less than a line, a line of every worker and more, as much as is over without its receiver, and more than that.
constexpr size_t kMessageCounts[] = {0, 1, 3001, size_t{64} << 10, (size_t{64} << 10) + 1, kLargeCount};

}  // namespace

TEST_CASE("messages in streams arrive, of any size, round by round") {
  for (const int size : {2, 3}) {
    const GpuRanks ranks(size);
    const GroupsInStreams groups(ranks, dfcclForItsStream, kMostLargeBytes);
    const Mailbag bag(ranks);
    for (const size_t count : kMessageCounts) {
      INFO(size, " ranks, ", count, " elements");
      for (int round = 0; round < 5; ++round) {
        for (int r = 0; r < size; ++r) {
          bag.fill(r, round);
          CHECK_OK(dfcclBatchBegin());
          // Half of them ask the other way round.
          if (r % 2 == 0) CHECK_OK(send(bag, r, (r + 1) % size, count, groups[r]));
          CHECK_OK(receive(bag, r, (r + size - 1) % size, count, groups[r]));
          if (r % 2 != 0) CHECK_OK(send(bag, r, (r + 1) % size, count, groups[r]));
          CHECK_OK(dfcclBatchEnd(nullptr));
        }
        bag.synchronize();
        for (int r = 0; r < size; ++r) CHECK(bag.hasGot(r, (r + size - 1) % size, count, round));
      }
    }
    CHECK_OK(ranks.waitAll());
  }
}

// With NCCL they are, if they are small. Its callers do without a group then.
TEST_CASE("small messages are over for who sends them before they are received, two of each signature") {
  const GpuRanks ranks(2);
  const GroupsInStreams groups(ranks, dfcclForItsStream, kMostLargeBytes);
  const Mailbag bag(ranks);
  for (const size_t count : {size_t{0}, size_t{1}, size_t{5000}, size_t{64} << 10}) {
    INFO(count, " elements");
    // Where one is to go is known when both have asked for it.
    CHECK_OK(receive(bag, 1, 0, count, groups[1]));
    CHECK_OK(send(bag, 0, 1, count, groups[0]));
    bag.synchronize();
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 2; ++i) {
        bag.fill(0, 2 * round + i);
        CHECK_OK(send(bag, 0, 1, count, groups[0]));
        CHECK(bag.streams[0].synchronize());
      }
      bag.fill(0, -5);
      for (int i = 0; i < 2; ++i) {
        bag.fill(1, 0);
        CHECK_OK(receive(bag, 1, 0, count, groups[1]));
        CHECK(bag.streams[1].synchronize());
        CHECK(bag.hasGot(1, 0, count, 2 * round + i));
      }
    }
    // The third waits for room, and doesn't overwrite what is there.
    for (int i = 0; i < 3; ++i) {
      bag.fill(0, 10 + i);
      CHECK_OK(send(bag, 0, 1, count, groups[0]));
      if (i < 2) CHECK(bag.streams[0].synchronize());
    }
    CHECK(cudaStreamQuery(bag.stream(0)) == cudaErrorNotReady);
    for (int i = 0; i < 3; ++i) {
      bag.fill(1, 0);
      CHECK_OK(receive(bag, 1, 0, count, groups[1]));
      CHECK(bag.streams[1].synchronize());
      CHECK(bag.hasGot(1, 0, count, 10 + i));
    }
    CHECK(bag.streams[0].synchronize());
  }
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("ranks that both send first, in one stream and no batch, get what is sent") {
  const GpuRanks ranks(2);
  const GroupsInStreams groups(ranks, dfcclForItsStream, kMostLargeBytes);
  const Mailbag bag(ranks);
  for (int round = 0; round < 20; ++round) {
    for (int r = 0; r < 2; ++r) {
      bag.fill(r, round);
      CHECK_OK(send(bag, r, 1 - r, 5000, groups[r]));
      CHECK_OK(receive(bag, r, 1 - r, 5000, groups[r]));
    }
    bag.synchronize();
    for (int r = 0; r < 2; ++r) CHECK(bag.hasGot(r, 1 - r, 5000, round));
  }
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("messages that graphs carry out arrive, launch by launch") {
  const GpuRanks ranks(2);
  const Groups groups(ranks);
  const Mailbag bag(ranks);
  for (const size_t count : {size_t{3001}, kLargeCount}) {
    INFO(count, " elements");
    std::vector<Graph> graphs;
    for (int r = 0; r < 2; ++r) {
      giveFirstWork(bag.streams[static_cast<size_t>(r)], bag.to(r));
      graphs.emplace_back(ranks.device(r), bag.streams[static_cast<size_t>(r)], [&] {
        CHECK_OK(dfcclBatchBegin());
        CHECK_OK(send(bag, r, 1 - r, count, groups[r]));
        CHECK_OK(receive(bag, r, 1 - r, count, groups[r]));
        CHECK_OK(dfcclBatchEnd(nullptr));
      });
    }
    for (int round = 0; round < 5; ++round) {
      for (int r = 0; r < 2; ++r) bag.fill(r, round);
      for (int r = 0; r < 2; ++r) graphs[static_cast<size_t>(r)].launch(bag.streams[static_cast<size_t>(r)]);
      bag.synchronize();
      for (int r = 0; r < 2; ++r) CHECK(bag.hasGot(r, 1 - r, count, round));
    }
  }
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("uneven collectives in streams are right, whatever each rank's counts") {
  const GpuRanks ranks(3);
  const GroupsInStreams groups(ranks, dfcclForItsStream, kMostLargeBytes);
  const Mailbag bag(ranks);
  const std::vector<size_t> counts{300, 0, 70'000}, at{0, 300, 300};
  constexpr size_t kAll = 70'300;
  for (int round = 0; round < 3; ++round) {
    for (int r = 0; r < 3; ++r) {
      bag.fill(r, round);
      // Each sends all of them so many: the one before last nothing.
      const std::vector<size_t> mine(3, counts[static_cast<size_t>(r)] / 3), fromAll{100, 0, 23'333};
      CHECK_OK(dfcclAllToAllV(bag.from(r), mine.data(), nullptr, bag.to(r), fromAll.data(), nullptr, dfcclInt32,
                              groups[r], 0, bag.stream(r), nullptr));
    }
    bag.synchronize();
    for (int r = 0; r < 3; ++r) {
      const std::vector<int32_t> got = bag.recv[static_cast<size_t>(r)].get();
      size_t wrong = 0;
      for (size_t i = 0; i < 100; ++i) wrong += got[i] != test::inputOf(0, static_cast<size_t>(r) * 100 + i) + round;
      for (size_t i = 0; i < 23'333; ++i) {
        wrong += got[100 + i] != test::inputOf(2, static_cast<size_t>(r) * 23'333 + i) + round;
      }
      CHECK(wrong == 0);
    }
    for (int r = 0; r < 3; ++r) {
      bag.fill(r, round);
      CHECK_OK(dfcclAllGatherV(bag.from(r), bag.to(r), counts.data(), nullptr, dfcclInt32, groups[r], 0, bag.stream(r),
                               nullptr));
    }
    bag.synchronize();
    for (int r = 0; r < 3; ++r) {
      const std::vector<int32_t> got = bag.recv[static_cast<size_t>(r)].get();
      size_t wrong = 0;
      for (size_t i = 0; i < kAll; ++i) {
        wrong += got[i] != (i < 300 ? test::inputOf(0, i) : test::inputOf(2, i - 300)) + round;
      }
      CHECK(wrong == 0);
    }
    for (int r = 0; r < 3; ++r) {
      bag.fill(r, round);
      CHECK_OK(dfcclGatherV(bag.from(r), bag.to(r), counts.data(), at.data(), dfcclInt32, 1, groups[r], 0,
                            bag.stream(r), nullptr));
    }
    bag.synchronize();
    const std::vector<int32_t> got = bag.recv[1].get();
    size_t wrong = 0;
    for (size_t i = 0; i < kAll; ++i)
      wrong += got[i] != (i < 300 ? test::inputOf(0, i) : test::inputOf(2, i - 300)) + round;
    CHECK(wrong == 0);
  }
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("what can't be a message in a stream is refused, and one to oneself goes as ever") {
  constexpr size_t kCount = 100;
  const GpuRanks ranks(2);
  const GroupsInStreams groups(ranks, dfcclForItsStream);
  const Mailbag bag(ranks);
  const auto lastErrorHas = [](const char* words) {
    return std::string(dfcclGetLastError()).find(words) != std::string::npos;
  };
  int source = -2;
  CHECK(dfcclRecvAny(bag.to(0), kCount, dfcclInt32, &source, groups[0], 0, nullptr) == dfcclUnavailable);
  CHECK(lastErrorHas("receives from any rank"));
  CHECK(dfcclSend(bag.from(0), kCount, dfcclInt32, 1, groups[0], 0, nullptr, nullptr) == dfcclInvalidArgument);
  CHECK(lastErrorHas("Pass a stream."));
  // Larger ones are the daemons'.
  dfcclRequest_t request = nullptr;
  CHECK_OK(dfcclRecvAny(bag.to(1), kLargeCount, dfcclInt32, &source, groups[1], 0, &request));
  bag.fill(0, 1);
  CHECK_OK(dfcclSend(bag.from(0), kLargeCount, dfcclInt32, 1, groups[0], 0, nullptr, nullptr));
  CHECK_OK(dfcclWaitRun(request, 0));
  CHECK(source == 0);
  CHECK(bag.hasGot(1, 0, kLargeCount, 1));
  bag.fill(0, 3);
  CHECK_OK(send(bag, 0, 0, kCount, groups[0]));
  CHECK_OK(dfcclRecv(bag.to(0), kCount, dfcclInt32, 0, groups[0], 0, bag.stream(0), &request));
  CHECK_OK(dfcclWaitRun(request, 0));
  CHECK(bag.hasGot(0, 0, kCount, 3));
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("a program may have many more different messages than a receiver has memory for") {
  constexpr size_t kCount = size_t{64} << 10;
  const GpuRanks ranks(2, 1, 8, 0, size_t{128} << 20);
  const GroupsInStreams groups(ranks, dfcclForItsStream, kMostLargeBytes);
  const Mailbag bag(ranks);
  bag.fill(0, 0);
  for (uint64_t tag = 0; tag < 300; ++tag) {
    dfcclRequest_t requests[2] = {};
    CHECK_OK(dfcclRecv(bag.to(1), kCount, dfcclInt32, 0, groups[1], tag, bag.stream(1), &requests[1]));
    CHECK_OK(dfcclSend(bag.from(0), kCount, dfcclInt32, 1, groups[0], tag, bag.stream(0), &requests[0]));
    CHECK_OK(dfcclWaitRuns(requests, 2, 0));
  }
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("messages that wait for their other half end when their group is given up") {
  for (const size_t count : {size_t{100}, kLargeCount}) {
    for (const bool isSender : {false, true}) {
      const GpuRanks ranks(2);
      const GroupsInStreams groups(ranks, dfcclForItsStream, kMostLargeBytes);
      const Mailbag bag(ranks);
      dfcclRequest_t request = nullptr;
      CHECK_OK(isSender ? dfcclSend(bag.from(0), count, dfcclInt32, 1, groups[0], 0, bag.stream(0), &request)
                        : dfcclRecv(bag.to(0), count, dfcclInt32, 1, groups[0], 0, bag.stream(0), &request));
      CHECK_OK(dfcclGroupAbort(groups[0]));
      CHECK(dfcclWaitRun(request, 0) == dfcclAborted);
      CHECK(bag.streams[0].synchronize());
      CHECK_OK(ranks.waitAll());
    }
  }
}
