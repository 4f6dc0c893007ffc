// Runs behind streams, and streams behind runs. What holds a stream here is a function of the host's that waits: it is
// the test's, the engine has none.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <random>
#include <thread>

#include "child.hpp"
#include "streams.hpp"
#include "support.hpp"

using namespace dfccl::gpu::test;

namespace {

/// Holds streams until it is opened.
class Barrier {
 public:
  ~Barrier() { open(); }
  void hold(cudaStream_t stream) {
    REQUIRE(cudaLaunchHostFunc(
                stream, [](void* barrier) { static_cast<Barrier*>(barrier)->wait(); }, this) == cudaSuccess);
  }
  void open() { isOpen_ = true; }

 private:
  void wait() const {
    while (!isOpen_) std::this_thread::yield();
  }
  std::atomic<bool> isOpen_{false};
};

/// The host's memory as copies of a stream need it.
class PinnedArray {
 public:
  PinnedArray(size_t count, int32_t value) : count_(count) {
    REQUIRE(cudaMallocHost(reinterpret_cast<void**>(&data_), count * sizeof(int32_t)) == cudaSuccess);
    fill(value);
  }
  ~PinnedArray() { cudaFreeHost(data_); }
  PinnedArray(PinnedArray&& other) noexcept : count_(other.count_), data_(other.data_) { other.data_ = nullptr; }
  PinnedArray& operator=(PinnedArray&&) = delete;

  int32_t* data() const { return data_; }
  size_t bytes() const { return count_ * sizeof(int32_t); }
  void fill(int32_t value) { std::fill(data_, data_ + count_, value); }
  bool isAll(int32_t value) const {
    return std::all_of(data_, data_ + count_, [=](int32_t v) { return v == value; });
  }

 private:
  size_t count_;
  int32_t* data_ = nullptr;
};

void countCompletion(void* count, dfcclResult_t) { static_cast<std::atomic<int>*>(count)->fetch_add(1); }
void countAbort(void* count, dfcclResult_t status) {
  if (status == dfcclAborted) static_cast<std::atomic<int>*>(count)->fetch_add(1);
}

dfcclCounters_t countersOf(dfcclRankCtx_t rank) {
  dfcclCounters_t counters{};
  counters.structSize = sizeof counters;
  CHECK_OK(dfcclGetCounters(&counters, rank));
  return counters;
}

/// Runs callbacks of all ranks until so many have come.
void pollUntil(const GpuRanks& ranks, const std::atomic<int>& count, int wanted) {
  while (count < wanted) {
    for (int r = 0; r < ranks.size(); ++r) CHECK_OK(dfcclPoll(nullptr, ranks[r]));
  }
}

/// One rank of a small all-reduce: its stream fills the input, and reads the result.
struct Member {
  Member(const GpuRanks& ranks, int rank, size_t count, int priority = 0)
      : stream(ranks.device(rank), priority),
        send(ranks.device(rank), count),
        recv(ranks.device(rank), count),
        input(count, rank + 1),
        output(count, -1) {
    send.set(std::vector<int32_t>(count, 0));
  }
  void fill() const {
    REQUIRE(cudaMemcpyAsync(send.data(), input.data(), input.bytes(), cudaMemcpyHostToDevice, stream) == cudaSuccess);
  }
  void read() const {
    REQUIRE(cudaMemcpyAsync(output.data(), recv.data(), output.bytes(), cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  }

  Stream stream;
  DeviceArray<int32_t> send, recv;
  PinnedArray input, output;
};

void registerAll(const GpuRanks& ranks, int id, size_t count) {
  for (int r = 0; r < ranks.size(); ++r) {
    CHECK_OK(dfcclRegisterAllReduce(count, dfcclInt32, dfcclSum, id, dfcclAllRanks(), 0, ranks[r]));
  }
}

std::vector<Member> membersOf(const GpuRanks& ranks, int id, size_t count, int priority = 0) {
  registerAll(ranks, id, count);
  std::vector<Member> members;
  for (int r = 0; r < ranks.size(); ++r) members.emplace_back(ranks, r, count, priority);
  return members;
}

/// A run of every rank from `first` on, behind nothing.
void runAll(const GpuRanks& ranks, const std::vector<Member>& members, int id, int first = 0,
            dfcclCallback_t callback = nullptr, void* arguments = nullptr) {
  for (int r = first; r < ranks.size(); ++r) {
    const Member& m = members[static_cast<size_t>(r)];
    CHECK_OK(dfcclRun(m.send.data(), m.recv.data(), id, callback, arguments, ranks[r]));
  }
}

std::vector<int> shuffledIds(int count, std::mt19937& random) {
  std::vector<int> ids(static_cast<size_t>(count));
  std::iota(ids.begin(), ids.end(), 0);
  std::shuffle(ids.begin(), ids.end(), random);
  return ids;
}

int32_t sumOfInputs(const GpuRanks& ranks) { return ranks.size() * (ranks.size() + 1) / 2; }

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

// The limit of streams that wait, and not of this library: CUDA puts a device's streams on few hardware queues, 8
// unless CUDA_DEVICE_MAX_CONNECTIONS says more, and one that waits keeps all others of its queue waiting, among them
// those that a peer's run waits for. On four H200s this hung. Run it by its name and under a time limit.
void waitOnStreamsInAnyOrder() {
  constexpr int kIds = 8, kIterations = 200, kPerWait = 20;
  const GpuRanks ranks;
  const size_t counts[] = {1, 64, 1000, 4096, 20'000, 65'536, 100'000, 262'144};
  std::vector<std::vector<Member>> members;
  for (int id = 0; id < kIds; ++id) members.push_back(membersOf(ranks, id, counts[id]));
  std::mt19937 random(11);
  size_t wrong = 0;
  for (int i = 0; i < kIterations; ++i) {
    for (int r = 0; r < ranks.size(); ++r) {
      const std::vector<int> order = shuffledIds(kIds, random);
      cudaSetDevice(ranks.device(r));
      for (const int id : order) {
        const Member& m = members[static_cast<size_t>(id)][static_cast<size_t>(r)];
        // Neither the last iteration's input nor its result is what this one wants.
        cudaMemsetAsync(m.recv.data(), 0xff, m.input.bytes(), m.stream);
        m.fill();
        CHECK_OK(dfcclRunOnStream(m.send.data(), m.recv.data(), id, m.stream, nullptr, nullptr, ranks[r]));
        CHECK_OK(dfcclWaitOnStream(id, m.stream, ranks[r]));
        cudaMemsetAsync(m.send.data(), 0, m.input.bytes(), m.stream);
        m.read();
      }
    }
    if ((i + 1) % kPerWait != 0) continue;
    for (const auto& collective : members) {
      for (const Member& m : collective) {
        CHECK(m.stream.synchronize());
        wrong += !m.output.isAll(sumOfInputs(ranks));
        std::fill(m.output.data(), m.output.data() + m.output.bytes() / sizeof(int32_t), -1);
      }
    }
    CHECK_OK(ranks.waitAll());
  }
  CHECK(wrong == 0);
}

const Child waitingStreams("waiting streams in any order", waitOnStreamsInAnyOrder);

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

// A daemon that had left could not be started: CUDA has no hardware queue left for it.
TEST_CASE("more streams wait than a device has hardware queues") {
  if (!hasGpuForEach()) return;
  constexpr int kStreams = 64;
  const GpuRanks ranks;
  const std::vector<Member> members = membersOf(ranks, 1, 100);
  std::vector<Stream> streams;
  for (int i = 0; i < kStreams; ++i) streams.emplace_back(ranks.device(0));
  for (int i = 0; i < 10; ++i) {
    CHECK_OK(dfcclRun(members[0].send.data(), members[0].recv.data(), 1, nullptr, nullptr, ranks[0]));
    for (const Stream& stream : streams) CHECK_OK(dfcclWaitOnStream(1, stream, ranks[0]));
    outwaitStays();
    runAll(ranks, members, 1, 1);
    CHECK_OK(ranks.waitAll());
    for (const Stream& stream : streams) CHECK(stream.synchronize());
  }
}

// cudaFree lets nothing be launched on the device meanwhile, so a daemon that had left could not be started again.
TEST_CASE("memory is freed while a stream waits for a run that a peer has not submitted yet") {
  if (!hasGpuForEach()) return;
  const GpuRanks ranks;
  const std::vector<Member> members = membersOf(ranks, 1, 1000);
  for (int i = 0; i < 40; ++i) {
    CHECK_OK(dfcclRunOnStream(members[0].send.data(), members[0].recv.data(), 1, members[0].stream, nullptr, nullptr,
                              ranks[0]));
    CHECK_OK(dfcclWaitOnStream(1, members[0].stream, ranks[0]));
    const Freeing freeing(ranks.device(0));
    if (i % 2 != 0) outwaitStays();
    runAll(ranks, members, 1, 1);
    CHECK_OK(ranks.waitAll());
  }
}

TEST_CASE("memory is freed while streams have yet to come to their runs, for which they then wait") {
  if (!hasGpuForEach()) return;
  const GpuRanks ranks;
  std::vector<std::vector<Member>> members;
  for (int id = 0; id < 3; ++id) members.push_back(membersOf(ranks, id, 1000));
  for (int i = 0; i < 20; ++i) {
    Barrier barrier;
    for (int r = 0; r < ranks.size(); ++r) {
      cudaSetDevice(ranks.device(r));
      const Stream& stream = members[0][static_cast<size_t>(r)].stream;
      barrier.hold(stream);
      for (int id = 0; id < 3; ++id) {
        const Member& m = members[static_cast<size_t>(id)][static_cast<size_t>(r)];
        CHECK_OK(dfcclRunOnStream(m.send.data(), m.recv.data(), id, stream, nullptr, nullptr, ranks[r]));
        CHECK_OK(dfcclWaitOnStream(id, stream, ranks[r]));
      }
    }
    std::vector<std::unique_ptr<Freeing>> freeing;
    for (int r = 0; r < ranks.size(); ++r) freeing.push_back(std::make_unique<Freeing>(ranks.device(r)));
    outwaitStays();
    barrier.open();
    CHECK_OK(ranks.waitAll());
  }
}

TEST_CASE("a daemon leaves once no stream waits any more, and not before") {
  if (!hasGpuForEach()) return;
  const GpuRanks ranks;
  const std::vector<Member> members = membersOf(ranks, 1, 1000);
  CHECK_OK(dfcclRun(members[0].send.data(), members[0].recv.data(), 1, nullptr, nullptr, ranks[0]));
  CHECK_OK(dfcclWaitOnStream(1, members[0].stream, ranks[0]));
  const uint64_t launches = countersOf(ranks[0]).launches;
  outwaitStays();
  CHECK(countersOf(ranks[0]).launches <= launches + 1);
  runAll(ranks, members, 1, 1);
  CHECK_OK(ranks.waitAll());
  // Else this would wait for ever.
  for (int r = 0; r < ranks.size(); ++r) {
    cudaSetDevice(ranks.device(r));
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
  }
}

TEST_CASE("a stream that waits longer than a stay may take is no fault") {
  if (!hasGpuForEach()) return;
  const GpuRanks ranks;
  const std::vector<Member> members = membersOf(ranks, 1, 1000);
  CHECK_OK(dfcclRun(members[0].send.data(), members[0].recv.data(), 1, nullptr, nullptr, ranks[0]));
  CHECK_OK(dfcclWaitOnStream(1, members[0].stream, ranks[0]));
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  runAll(ranks, members, 1, 1);
  CHECK_OK(ranks.waitAll());
  CHECK(members[0].stream.synchronize());
}

TEST_CASE("the trace of the last runs is a file that names every block of every rank") {
  const GpuRanks ranks;
  const std::vector<Member> members = membersOf(ranks, 1, 1000);
  std::vector<dfcclRankCtx_t> contexts;
  for (int i = 0; i < 5; ++i) {
    runAll(ranks, members, 1);
    CHECK_OK(ranks.waitAll());
  }
  for (int r = 0; r < ranks.size(); ++r) {
    CHECK_OK(dfcclSynchronize(ranks[r]));
    contexts.push_back(ranks[r]);
  }
  const std::string path = "/tmp/dfccl-trace-" + std::to_string(getpid()) + ".json";
  CHECK_OK(dfcclWriteTrace(path.c_str(), contexts.data(), ranks.size()));
  std::ifstream file(path);
  const std::string json((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::remove(path.c_str());
  for (const char* part : {"\"rank 0\"", "\"rank 1\"", "\"block 7\"", "\"submission queue\"", "\"stay\"",
                           "\"run taken\"", "\"completion posted\""}) {
    CAPTURE(part);
    CHECK(json.find(part) != std::string::npos);
  }
  CHECK(dfcclWriteTrace("/nowhere/trace.json", contexts.data(), 1) == dfcclSystemError);
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
  REQUIRE(cudaStreamBeginCapture(m.stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  says(dfcclRunOnStream(m.send.data(), m.recv.data(), 1, m.stream, nullptr, nullptr, ranks[0]), dfcclInvalidArgument,
       "captures a graph");
  says(dfcclWaitOnStream(1, m.stream, ranks[0]), dfcclInvalidArgument, "captures a graph");
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(m.stream, &graph);
  cudaGraphDestroy(graph);
  says(dfcclRunOnStream(m.send.data(), m.recv.data(), 2, m.stream, nullptr, nullptr, ranks[0]), dfcclUnknownCollective,
       "2");
  says(dfcclWaitOnStream(2, m.stream, ranks[0]), dfcclUnknownCollective, "2");
  int least = 0, greatest = 0;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  const Stream urgent(ranks.device(0), greatest);
  says(dfcclWaitOnStream(1, urgent, ranks[0]), dfcclInvalidArgument, "greatest priority");
  if (deviceCount() > 1) {
    says(dfcclRunOnStream(m.send.data(), m.recv.data(), 1, members[1].stream, nullptr, nullptr, ranks[0]),
         dfcclInvalidArgument, "is one of device");
  }
  // The stream of nobody in particular is the device's default stream.
  for (int r = 0; r < ranks.size(); ++r) {
    const Member& mine = members[static_cast<size_t>(r)];
    CHECK_OK(dfcclRunOnStream(mine.send.data(), mine.recv.data(), 1, nullptr, nullptr, nullptr, ranks[r]));
  }
  // After all of them: where ranks share a device, they share that stream.
  for (int r = 0; r < ranks.size(); ++r) CHECK_OK(dfcclWaitOnStream(1, nullptr, ranks[r]));
  CHECK_OK(ranks.waitAll());
}
