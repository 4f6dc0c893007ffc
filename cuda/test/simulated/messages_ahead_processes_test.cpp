// Messages of ranks that are processes, sent before they are received.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

#include "simulated/joined_rank.hpp"

using namespace dfccl::gpu::simulated::test;

namespace {

constexpr size_t kWords = 100;

/// A word of two processes': each waits until the other has come as far.
struct Turns {
  Turns() {
    for (auto& ends : pipes) REQUIRE(pipe(ends.data()) == 0);
  }
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;
  bool tell(uint32_t rank) const { return write(pipes[rank][1], "x", 1) == 1; }
  bool hear(uint32_t rank) const {
    char said = 0;
    return read(pipes[1 - rank][0], &said, 1) == 1;
  }
  ~Turns() {
    for (const auto& ends : pipes) {
      for (const int end : ends) close(end);
    }
  }
  std::array<std::array<int, 2>, 2> pipes{};
};

struct Messenger {
  Joined me;
  cudaStream_t stream = nullptr;
  int32_t* words = nullptr;
  dfcclGroup_t first = nullptr, second = nullptr;  // of both ranks, with messages in streams
};

int begin(Messenger& to, const std::string& job, uint32_t rank) {
  EXPECT(join(to.me, job, rank, 2, 1500, 16) == kFine);
  EXPECT(cudaStreamCreateWithFlags(&to.stream, cudaStreamNonBlocking) == cudaSuccess);
  to.words = allocate(kWords);
  uint64_t name = 0;
  for (dfcclGroup_t* const group : {&to.first, &to.second}) {
    OK(dfcclGroupCreate(nullptr, 0, ++name, group, to.me.context));
    OK(dfcclGroupRunInStreams(*group, size_t{1} << 30, 0, dfcclForAll));
  }
  return kFine;
}

dfcclResult_t send(const Messenger& m, int32_t value, dfcclGroup_t group, uint64_t micros) {
  std::fill_n(m.words, kWords, value);
  dfcclRequest_t request = nullptr;
  const dfcclResult_t sent = dfcclSend(m.words, kWords, dfcclInt32, 1, group, 0, m.stream, &request);
  return sent == dfcclSuccess ? dfcclWaitRun(request, micros) : sent;
}

int receive(const Messenger& m, int32_t value, dfcclGroup_t group) {
  std::fill_n(m.words, kWords, -1);
  dfcclRequest_t request = nullptr;
  OK(dfcclRecv(m.words, kWords, dfcclInt32, 0, group, 0, m.stream, &request));
  OK(dfcclWaitRun(request, kLimitMicros));
  EXPECT(std::all_of(m.words, m.words + kWords, [=](int32_t word) { return word == value; }));
  return kFine;
}

/// Registers something of its own, and drops it.
int runAlone(const Messenger& m, uint64_t signatures) {
  dfcclGroup_t alone = nullptr;
  const int self = static_cast<int>(m.me.rank);
  OK(dfcclGroupCreate(&self, 1, 3, &alone, m.me.context));
  for (uint64_t tag = 0; tag < signatures; ++tag) {
    dfcclRequest_t request = nullptr;
    OK(dfcclAllReduce(m.words, m.words, 1, dfcclInt32, dfcclSum, alone, tag, nullptr, &request));
    OK(dfcclWaitRun(request, kLimitMicros));
  }
  OK(dfcclGroupDestroy(alone));
  return kFine;
}

int memoryOf(const Messenger& m, uint64_t& bytes) {
  dfcclCounters_t counters{};
  counters.structSize = sizeof counters;
  OK(dfcclGetCounters(&counters, m.me.context));
  bytes = counters.arenaBytesUsed;
  return kFine;
}

/// Until what was registered before has been looked at, whether its memory may go: what is registered after it, and
/// dropped, is gone then.
int awaitGivingBack(const Messenger& m) {
  uint64_t before = 0, now = UINT64_MAX;
  EXPECT(memoryOf(m, before) == kFine);
  EXPECT(runAlone(m, 1) == kFine);
  while (now > before) {
    EXPECT(memoryOf(m, now) == kFine);
    std::this_thread::yield();
  }
  return kFine;
}

int sendAhead(const std::string& job, const Turns& turns) {
  Messenger m;
  EXPECT(begin(m, job, 0) == kFine);
  OK(send(m, 10, m.first, kLimitMicros));
  EXPECT(turns.hear(0));  // it is received, and forgotten there
  OK(send(m, 11, m.first, kLimitMicros));
  OK(dfcclGroupDestroy(m.first));
  EXPECT(awaitGivingBack(m) == kFine);
  // Whatever lay where the first group's memory was is the second one's now.
  OK(send(m, 20, m.second, kLimitMicros));
  EXPECT(turns.tell(0));
  EXPECT(turns.hear(0));  // 11 is received, too
  OK(send(m, 21, m.second, kLimitMicros));
  OK(send(m, 22, m.second, kLimitMicros));
  EXPECT(turns.tell(0));
  OK(send(m, 23, m.second, kLimitMicros));
  EXPECT(turns.tell(0));
  EXPECT(turns.hear(0));
  _exit(kFine);
}

int receiveLate(const std::string& job, const Turns& turns) {
  Messenger m;
  EXPECT(begin(m, job, 1) == kFine);
  EXPECT(receive(m, 10, m.first) == kFine);
  EXPECT(runAlone(m, 40) == kFine);  // more than its tables hold, so it forgets all else
  EXPECT(turns.tell(1));
  EXPECT(receive(m, 20, m.second) == kFine);
  EXPECT(turns.hear(1));
  EXPECT(receive(m, 11, m.first) == kFine);
  EXPECT(turns.tell(1));
  EXPECT(turns.hear(1));
  for (const int32_t value : {21, 22, 23}) EXPECT(receive(m, value, m.second) == kFine);
  EXPECT(turns.hear(1));
  EXPECT(turns.tell(1));
  _exit(kFine);
}

}  // namespace

// Its memory was another signature's by the time the receiver said there that it had got the message.
TEST_CASE("a message that was sent ahead of who has forgotten its signature arrives, and disturbs no other") {
  // What takes that memory next is chance.
  for (int round = 0; round < 4; ++round) {
    const std::string job = newJob();
    const Turns turns;
    Processes processes(2, [&](uint32_t rank) { return rank == 0 ? sendAhead(job, turns) : receiveLate(job, turns); });
    checkAllFine(processes, 2);
  }
}
