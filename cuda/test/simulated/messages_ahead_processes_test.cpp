// Messages of ranks that are processes, sent before they are received.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "simulated/joined_rank.hpp"

using namespace dfccl::gpu::simulated::test;

namespace {

constexpr size_t kWords = 100;

/// A word of two processes': each waits until the other has come as far.
struct Turns {
  Turns() {
    for (auto& ends : pipes) REQUIRE(pipe(ends.data()) == 0);
  }
  bool tell(uint32_t rank) const { return write(pipes[rank][1], "x", 1) == 1; }
  bool hear(uint32_t rank) const {
    char said = 0;
    return read(pipes[1 - rank][0], &said, 1) == 1;
  }
  std::array<std::array<int, 2>, 2> pipes{};
};

struct Messenger {
  Joined me;
  cudaStream_t stream = nullptr;
  int32_t* words = nullptr;
};

int begin(Messenger& to, const std::string& job, uint32_t rank) {
  EXPECT(join(to.me, job, rank, 2, 1500, 16) == kFine);
  EXPECT(cudaStreamCreateWithFlags(&to.stream, cudaStreamNonBlocking) == cudaSuccess);
  to.words = allocate(kWords);
  return kFine;
}

int openGroup(const Messenger& m, uint64_t name, dfcclGroup_t* group) {
  OK(dfcclGroupCreate(nullptr, 0, name, group, m.me.context));
  OK(dfcclGroupRunInStreams(*group, size_t{1} << 30, 0, dfcclForAll));
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

/// Registers so much of its own that it forgets all else.
int forgetAll(const Messenger& m) {
  dfcclGroup_t alone = nullptr;
  const int self = static_cast<int>(m.me.rank);
  OK(dfcclGroupCreate(&self, 1, 3, &alone, m.me.context));
  int32_t* const one = allocate(1);
  for (uint64_t tag = 0; tag < 40; ++tag) {
    dfcclRequest_t request = nullptr;
    OK(dfcclAllReduce(one, one, 1, dfcclInt32, dfcclSum, alone, tag, nullptr, &request));
    OK(dfcclWaitRun(request, kLimitMicros));
  }
  cudaFree(one);
  return kFine;
}

int sendAhead(const std::string& job, const Turns& turns) {
  Messenger m;
  EXPECT(begin(m, job, 0) == kFine);
  dfcclGroup_t first = nullptr, second = nullptr;
  EXPECT(openGroup(m, 1, &first) == kFine);
  EXPECT(openGroup(m, 2, &second) == kFine);
  OK(send(m, 10, first, kLimitMicros));
  EXPECT(turns.hear(0));  // it is received, and forgotten there
  OK(send(m, 11, first, kLimitMicros));
  OK(dfcclGroupDestroy(first));
  usleep(300'000);  // in which its memory must not be given back: where this is too short, the test is weaker
  // Whatever lay where the first group's memory was is the second one's now.
  OK(send(m, 20, second, kLimitMicros));
  EXPECT(turns.tell(0));
  EXPECT(turns.hear(0));  // 11 is received, too
  OK(send(m, 21, second, kLimitMicros));
  OK(send(m, 22, second, kLimitMicros));
  EXPECT(turns.tell(0));
  OK(send(m, 23, second, kLimitMicros));
  EXPECT(turns.tell(0));
  EXPECT(turns.hear(0));
  _exit(kFine);
}

int receiveLate(const std::string& job, const Turns& turns) {
  Messenger m;
  EXPECT(begin(m, job, 1) == kFine);
  dfcclGroup_t first = nullptr, second = nullptr;
  EXPECT(openGroup(m, 1, &first) == kFine);
  EXPECT(openGroup(m, 2, &second) == kFine);
  EXPECT(receive(m, 10, first) == kFine);
  EXPECT(forgetAll(m) == kFine);
  EXPECT(turns.tell(1));
  EXPECT(receive(m, 20, second) == kFine);
  EXPECT(turns.hear(1));
  EXPECT(receive(m, 11, first) == kFine);
  EXPECT(turns.tell(1));
  EXPECT(turns.hear(1));
  for (const int32_t value : {21, 22, 23}) EXPECT(receive(m, value, second) == kFine);
  EXPECT(turns.hear(1));
  EXPECT(turns.tell(1));
  _exit(kFine);
}

}  // namespace

// Its memory was another signature's by the time the receiver said there that it had got the message.
TEST_CASE("a message that was sent ahead of who has forgotten its signature arrives, and disturbs no other") {
  const std::string job = newJob();
  const Turns turns;
  Processes processes(2, [&](uint32_t rank) { return rank == 0 ? sendAhead(job, turns) : receiveLate(job, turns); });
  checkAllFine(processes, 2);
}
