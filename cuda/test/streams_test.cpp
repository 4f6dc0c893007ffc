// Runs behind streams, and streams behind runs.
#include <atomic>
#include <random>

#include "stream_members.hpp"

using namespace dfccl::gpu::test;

namespace {

void countCompletion(void* count, dfcclResult_t) { static_cast<std::atomic<int>*>(count)->fetch_add(1); }
void countAbort(void* count, dfcclResult_t status) {
  if (status == dfcclAborted) static_cast<std::atomic<int>*>(count)->fetch_add(1);
}

/// Runs callbacks of all ranks until so many have come.
void pollUntil(const GpuRanks& ranks, const std::atomic<int>& count, int wanted) {
  while (count < wanted) {
    for (int r = 0; r < ranks.size(); ++r) CHECK_OK(dfcclPoll(nullptr, ranks[r]));
  }
}

/// Other ids go on while the streams are held; then these are let go. @return whether all results are right.
bool runsSeeWhatTheirStreamsWrote(bool isBehindStream) {
  constexpr size_t kCount = 1000;
  const GpuRanks ranks;
  const std::vector<Member> held = membersOf(ranks, 1, kCount), free = membersOf(ranks, 2, kCount);
  Barrier barrier;
  std::atomic<int> heldDone{0}, freeDone{0};
  for (int r = 0; r < ranks.size(); ++r) {
    const Member& m = held[static_cast<size_t>(r)];
    cudaSetDevice(ranks.device(r));
    barrier.hold(m.stream);
    m.fill();
    if (isBehindStream) {
      CHECK_OK(dfcclRunOnStream(m.send.data(), m.recv.data(), 1, m.stream, countCompletion, &heldDone, ranks[r]));
    } else {
      CHECK_OK(dfcclRun(m.send.data(), m.recv.data(), 1, countCompletion, &heldDone, ranks[r]));
    }
    CHECK_OK(dfcclWaitOnStream(1, m.stream, ranks[r]));
    m.read();
  }
  for (int i = 0; i < 50; ++i) runAll(ranks, free, 2, 0, countCompletion, &freeDone);
  // A later run of the held id, which waits behind the first.
  runAll(ranks, free, 1, 0, countCompletion, &heldDone);
  pollUntil(ranks, freeDone, 50 * ranks.size());
  if (isBehindStream) {
    CHECK(heldDone == 0);
  } else {
    pollUntil(ranks, heldDone, 2 * ranks.size());
  }
  barrier.open();
  bool isRight = true;
  for (const Member& m : held) {
    CHECK(m.stream.synchronize());
    isRight &= m.output.isAll(sumOfInputs(ranks));
  }
  CHECK_OK(ranks.waitAll());
  CHECK(heldDone == 2 * ranks.size());
  return isRight;
}

}  // namespace

TEST_CASE("a run behind a stream sees what the stream wrote, and the stream the result; other ids don't wait") {
  CHECK(runsSeeWhatTheirStreamsWrote(true));
  // The control: a run that is not behind the stream reads what was there before.
  CHECK_FALSE(runsSeeWhatTheirStreamsWrote(false));
}

TEST_CASE("many runs behind one stream, in another order on each rank, begin together and end") {
  constexpr int kIds = 16;
  const GpuRanks ranks;
  std::vector<std::vector<Member>> members;
  for (int id = 0; id < kIds; ++id) members.push_back(membersOf(ranks, id, 500));
  std::mt19937 random(3);
  for (int i = 0; i < 50; ++i) {
    for (int r = 0; r < ranks.size(); ++r) {
      const std::vector<int> order = shuffledIds(kIds, random);
      const cudaStream_t stream = members[0][static_cast<size_t>(r)].stream;
      for (const int id : order) {
        const Member& m = members[static_cast<size_t>(id)][static_cast<size_t>(r)];
        CHECK_OK(untilRoom(
            [&] { return dfcclRunOnStream(m.send.data(), m.recv.data(), id, stream, nullptr, nullptr, ranks[r]); }));
      }
      for (const int id : order) CHECK_OK(dfcclWaitOnStream(id, stream, ranks[r]));
    }
  }
  for (const Member& m : members[0]) CHECK(m.stream.synchronize());
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("a daemon that left while a run waited for its stream comes back when the stream comes") {
  const GpuRanks ranks;
  const std::vector<Member> members = membersOf(ranks, 1, 100);
  for (int i = 0; i < 20; ++i) {
    Barrier barrier;
    std::vector<uint64_t> launches;
    for (int r = 0; r < ranks.size(); ++r) {
      const Member& m = members[static_cast<size_t>(r)];
      cudaSetDevice(ranks.device(r));
      barrier.hold(m.stream);
      CHECK_OK(dfcclRunOnStream(m.send.data(), m.recv.data(), 1, m.stream, nullptr, nullptr, ranks[r]));
    }
    for (int r = 0; r < ranks.size(); ++r) {
      // It has come for the entry and, with nothing that may begin, gone again.
      dfcclCounters_t counters = countersOf(ranks[r]);
      while (counters.launches == 0 || counters.launches != counters.quits) counters = countersOf(ranks[r]);
      launches.push_back(counters.launches);
    }
    barrier.open();
    CHECK_OK(ranks.waitAll());
    // The first time nothing but the stream can have brought it back.
    if (i != 0) continue;
    for (int r = 0; r < ranks.size(); ++r) {
      CHECK(countersOf(ranks[r]).launches > launches[static_cast<size_t>(r)]);
    }
  }
}

TEST_CASE("an abort ends runs behind streams as these come, and streams that wait for them go on") {
  const GpuRanks ranks;
  // The same streams each time: of many, one that is held could keep the daemon's hardware queue from starting it.
  const std::vector<Member> members = membersOf(ranks, 0, 100);
  for (int i = 0; i < 10; ++i) {
    if (i != 0) registerAll(ranks, i, 100);
    Barrier barrier;
    std::atomic<int> aborted{0};
    for (int r = 0; r < ranks.size(); ++r) {
      const Member& m = members[static_cast<size_t>(r)];
      cudaSetDevice(ranks.device(r));
      if (r != 0) barrier.hold(m.stream);
      CHECK_OK(dfcclRunOnStream(m.send.data(), m.recv.data(), i, m.stream, countAbort, &aborted, ranks[r]));
      CHECK_OK(dfcclWaitOnStream(i, m.stream, ranks[r]));
    }
    CHECK_OK(dfcclAbort(i, ranks[0]));
    // A daemon may see a stream that comes now before it sees the request.
    int isOver = 0;
    while (isOver == 0) CHECK_OK(dfcclIsQuarantineOver(i, &isOver, ranks[0]));
    barrier.open();
    CHECK_OK(ranks.waitAll());
    CHECK(aborted == ranks.size());
    for (const Member& m : members) CHECK(m.stream.synchronize());
    for (int r = 0; r < ranks.size(); ++r) CHECK_OK(dfcclUnregister(i, ranks[r]));
  }
}

TEST_CASE("an id that is registered anew is not waited for in vain") {
  const GpuRanks ranks;
  for (int i = 0; i < 50; ++i) {
    const std::vector<Member> members = membersOf(ranks, 5, 10);
    for (int run = 0; run < 1 + i % 3; ++run) {
      for (int r = 0; r < ranks.size(); ++r) {
        const Member& m = members[static_cast<size_t>(r)];
        m.fill();
        CHECK_OK(dfcclRunOnStream(m.send.data(), m.recv.data(), 5, m.stream, nullptr, nullptr, ranks[r]));
        CHECK_OK(dfcclWaitOnStream(5, m.stream, ranks[r]));
        m.read();
      }
    }
    CHECK_OK(ranks.waitAll());
    for (int r = 0; r < ranks.size(); ++r) CHECK_OK(dfcclUnregister(5, ranks[r]));
    for (const Member& m : members) {
      CHECK(m.stream.synchronize());
      CHECK(m.output.isAll(sumOfInputs(ranks)));
    }
  }
}

TEST_CASE("a stream of another rank's GPU is refused with the reason") {
  if (!hasTwoGpus()) return;
  const GpuRanks ranks;
  const std::vector<Member> members = membersOf(ranks, 1, 100);
  const Member& m = members[0];
  CHECK(dfcclRunOnStream(m.send.data(), m.recv.data(), 1, members[1].stream, nullptr, nullptr, ranks[0]) ==
        dfcclInvalidArgument);
  CHECK(std::string(dfcclGetLastError()).find("is one of device") != std::string::npos);
}

TEST_CASE("streams that can't be used are refused with the reason") {
  const GpuRanks ranks;
  const std::vector<Member> members = membersOf(ranks, 1, 100);
  const Member& m = members[0];
  const auto says = [&](dfcclResult_t result, dfcclResult_t wanted, const char* text) {
    CHECK(result == wanted);
    CHECK(std::string(dfcclGetLastError()).find(text) != std::string::npos);
  };
  cudaSetDevice(ranks.device(0));
  says(dfcclRunOnStream(m.send.data(), m.recv.data(), 2, m.stream, nullptr, nullptr, ranks[0]), dfcclUnknownCollective,
       "2");
  says(dfcclWaitOnStream(2, m.stream, ranks[0]), dfcclUnknownCollective, "2");
  int least = 0, greatest = 0;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  const Stream urgent(ranks.device(0), greatest);
  // Nothing is started any more while a stream waits, so its priority doesn't matter.
  CHECK_OK(dfcclWaitOnStream(1, urgent, ranks[0]));
  // The stream of nobody in particular is the device's default stream.
  for (int r = 0; r < ranks.size(); ++r) {
    const Member& mine = members[static_cast<size_t>(r)];
    CHECK_OK(dfcclRunOnStream(mine.send.data(), mine.recv.data(), 1, nullptr, nullptr, nullptr, ranks[r]));
  }
  // After all of them: where ranks share a device, they share that stream.
  for (int r = 0; r < ranks.size(); ++r) CHECK_OK(dfcclWaitOnStream(1, nullptr, ranks[r]));
  CHECK_OK(ranks.waitAll());
}
