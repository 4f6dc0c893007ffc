// Streams of the simulated devices: what keeps one from going on, what becomes of one that is destroyed, and what CUDA
// says of memory.
#include <string>
#include <vector>

#include "child.hpp"
#include "simulated/blocked_call.hpp"
#include "simulated/unkindness.hpp"

using namespace dfccl::gpu::simulated;
using namespace dfccl::gpu::simulated::test;
using dfccl::gpu::test::Child;
using dfccl::gpu::test::runSelf;

namespace {

constexpr int kModule = 0, kQueues = 8;

std::vector<cudaStream_t> newStreams(int count) {
  std::vector<cudaStream_t> streams;
  for (int i = 0; i < count; ++i) streams.push_back(newStream());
  return streams;
}

/// What a kernel behind others finds: whether it ran, and whether the word was open by then.
struct Seen {
  explicit Seen(const Word& word) : word(word) {}
  std::function<void()> note() {
    return [this] {
      wasOpen = word.isOpen();
      hasRun = true;
    };
  }
  bool runs() const {
    return comesToHold([this] { return hasRun.load(); });
  }

  const Word& word;
  std::atomic<bool> hasRun{false}, wasOpen{false};
};

/// Whether a kernel in another stream runs beside these, or not before they go on.
bool runsBeside(Word& word, const std::function<void()>& occupy) {
  Seen seen(word);
  REQUIRE(loadModule(kModule) == cudaSuccess);
  occupy();
  const cudaStream_t other = newStream();
  REQUIRE(launchUserKernel(other, kModule, seen.note()) == cudaSuccess);
  // Long enough for what could run to have run; if it couldn't, this says so rightly however long it takes.
  comesToHold([&] { return seen.hasRun.load(); }, std::chrono::milliseconds(300));
  word.open();
  CHECK(seen.runs());
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  return !seen.wasOpen;
}

bool runsBesideWaiting(int streams) {
  Word word;
  return runsBeside(word, [&] {
    for (const cudaStream_t stream : newStreams(streams)) word.letWait(stream);
  });
}

bool runsBesideKernels(int streams, bool hasMoreBehind) {
  Word word;
  return runsBeside(word, [&] {
    for (const cudaStream_t stream : newStreams(streams)) {
      REQUIRE(launchUserKernel(stream, kModule, word.spin()) == cudaSuccess);
      if (hasMoreBehind) REQUIRE(launchUserKernel(stream, kModule, [] {}) == cudaSuccess);
    }
  });
}

constexpr const char *kOneConnection = "a stream that waits on the only connection",
                     *kManyConnections = "streams that wait on half of the connections";
const Child oneConnection(kOneConnection, [] { CHECK_FALSE(runsBesideWaiting(1)); });
const Child manyConnections(kManyConnections, [] { CHECK(runsBesideWaiting(16)); });

}  // namespace

TEST_CASE("streams that wait at the head of every hardware queue keep all others waiting") {
  CHECK_FALSE(runsBesideWaiting(kQueues));
  CHECK_FALSE(runsBesideWaiting(3 * kQueues));
}

TEST_CASE("control: where each stream has a queue of its own, another one runs") {
  const Switched shared(unkindness().sharedQueues, 0);
  CHECK(runsBesideWaiting(kQueues));
}

TEST_CASE("a kernel that runs leaves its queue to other streams, until its own stream has more to do") {
  CHECK(runsBesideKernels(kQueues, false));
  CHECK_FALSE(runsBesideKernels(kQueues, true));
}

TEST_CASE("a kernel that has not begun keeps its queue") {
  Word word, behind;
  Seen seen(word);
  REQUIRE(loadModule(kModule) == cudaSuccess);
  {
    const KernelsHeld held(0);
    for (const cudaStream_t stream : newStreams(kQueues)) {
      REQUIRE(launchUserKernel(stream, kModule, seen.note()) == cudaSuccess);
    }
    behind.letOpen(newStream());
    CHECK_FALSE(comesToHold([&] { return behind.isOpen(); }, std::chrono::milliseconds(100)));
    word.open();
  }
  CHECK(seen.runs());
  CHECK(seen.wasOpen);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(behind.isOpen());
}

TEST_CASE("CUDA_DEVICE_MAX_CONNECTIONS says how many hardware queues there are") {
  const std::pair<const char*, const char*> cases[] = {{"1", kOneConnection}, {"32", kManyConnections}};
  for (const auto& [connections, name] : cases) {
    CAPTURE(connections);
    const auto end = runSelf({}, {{"CUDA_DEVICE_MAX_CONNECTIONS", connections}, {"DFCCL_TEST_CHILD", name}},
                             std::chrono::seconds(60));
    CHECK(end.code == 0);
  }
}

TEST_CASE("a copy of a stream with nothing before it goes through the queue where the switch says so") {
  void *memory = nullptr, *host = nullptr;
  REQUIRE(cudaMalloc(&memory, 64) == cudaSuccess);
  REQUIRE(cudaMallocHost(&host, 64) == cudaSuccess);
  for (const int isQueued : {0, 1}) {
    CAPTURE(isQueued);
    const Switched queued(unkindness().queuedCopies, isQueued);
    Word word;
    for (const cudaStream_t stream : newStreams(kQueues)) word.letWait(stream);
    const cudaStream_t other = newStream();
    REQUIRE(cudaMemcpyAsync(memory, host, 64, cudaMemcpyHostToDevice, other) == cudaSuccess);
    CHECK(cudaStreamQuery(other) == (isQueued != 0 ? cudaErrorNotReady : cudaSuccess));
    word.open();
    CHECK(cudaStreamSynchronize(other) == cudaSuccess);
  }
}

TEST_CASE("a stream writes a value behind what it was given before") {
  Word first, second;
  const cudaStream_t stream = newStream();
  first.letWait(stream);
  second.letOpen(stream);
  CHECK_FALSE(second.isOpen());
  first.open();
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(second.isOpen());
}

TEST_CASE("a stream waits for an event, which says whether it is reached") {
  Word word;
  Seen seen(word);
  const cudaStream_t first = newStream(), second = newStream();
  cudaEvent_t event = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
  CHECK(cudaEventQuery(event) == cudaSuccess);  // never recorded
  REQUIRE(loadModule(kModule) == cudaSuccess);
  word.letWait(first);
  CHECK(cudaEventRecord(event, first) == cudaSuccess);
  CHECK(cudaEventQuery(event) == cudaErrorNotReady);
  CHECK(cudaGetLastError() == cudaErrorNotReady);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaStreamWaitEvent(second, event, 0) == cudaSuccess);
  CHECK(launchUserKernel(second, kModule, seen.note()) == cudaSuccess);
  const BlockedCall waits([=] { cudaEventSynchronize(event); });
  word.open();
  CHECK(waits.returns());
  CHECK(seen.runs());
  CHECK(seen.wasOpen);
  CHECK(cudaEventDestroy(event) == cudaSuccess);
  CHECK(cudaEventRecord(event, first) == cudaErrorInvalidResourceHandle);
}

TEST_CASE("the default stream and those that are not made without it wait for each other") {
  REQUIRE(loadModule(kModule) == cudaSuccess);
  const cudaStream_t blocking = newStream(cudaStreamDefault), apart = newStream();
  for (const auto& [first, second, waits] :
       {std::tuple{blocking, cudaStreamLegacy, true}, std::tuple{cudaStream_t{nullptr}, blocking, true},
        std::tuple{cudaStreamPerThread, cudaStream_t{nullptr}, true}, std::tuple{cudaStreamLegacy, apart, false},
        std::tuple{apart, cudaStreamLegacy, false}}) {
    CAPTURE(first);
    CAPTURE(second);
    for (const int isOn : {1, 0}) {
      CAPTURE(isOn);
      const Switched order(unkindness().legacyOrder, isOn);
      // What is looked at is not that they share a queue.
      Word word;
      REQUIRE(launchUserKernel(first, kModule, word.spin()) == cudaSuccess);
      REQUIRE(launchUserKernel(second, kModule, [] {}) == cudaSuccess);
      if (isOn != 0 && waits) {
        CHECK(cudaStreamQuery(second) == cudaErrorNotReady);
      } else {
        CHECK(comesToHold([&, second = second] { return cudaStreamQuery(second) == cudaSuccess; }));
      }
      word.open();
      CHECK(cudaStreamSynchronize(second) == cudaSuccess);
      CHECK(cudaStreamSynchronize(first) == cudaSuccess);
    }
  }
}

TEST_CASE("a stream that is destroyed does what it was given, and every call says that it is gone") {
  Word word;
  Seen seen(word);
  REQUIRE(loadModule(kModule) == cudaSuccess);
  const cudaStream_t stream = newStream();
  word.letWait(stream);
  REQUIRE(launchUserKernel(stream, kModule, seen.note()) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);

  cudaStreamCaptureStatus status{};
  int number = 0;
  CHECK(cudaStreamIsCapturing(stream, &status) == cudaErrorContextIsDestroyed);
  CHECK(cudaStreamQuery(stream) == cudaErrorContextIsDestroyed);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorContextIsDestroyed);
  CHECK(cudaStreamGetDevice(stream, &number) == cudaErrorContextIsDestroyed);
  CHECK(cudaStreamGetPriority(stream, &number) == cudaErrorContextIsDestroyed);
  CHECK(cudaMemsetAsync(&number, 0, sizeof number, stream) == cudaErrorContextIsDestroyed);
  CHECK(launchUserKernel(stream, kModule, [] {}) == cudaErrorContextIsDestroyed);
  CHECK(cudaStreamDestroy(stream) == cudaErrorContextIsDestroyed);
  CHECK(cudaStreamQuery(reinterpret_cast<cudaStream_t>(0x1230)) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamDestroy(nullptr) == cudaErrorInvalidResourceHandle);

  // The device isn't idle while it has something to do.
  const BlockedCall idle([] { cudaDeviceSynchronize(); });
  CHECK(idle.awaitsIdle());
  CHECK_FALSE(seen.hasRun);
  word.open();
  CHECK(idle.returns());
  CHECK(seen.hasRun);
  CHECK(seen.wasOpen);
}

TEST_CASE("memory says what it is, and only cudaMalloc's is exported") {
  void *device = nullptr, *pooled = nullptr, *host = nullptr, *mapped = nullptr;
  int variable = 0;
  REQUIRE(cudaMalloc(&device, 64) == cudaSuccess);
  REQUIRE(cudaMallocAsync(&pooled, 64, nullptr) == cudaSuccess);
  REQUIRE(cudaMallocHost(&host, 64) == cudaSuccess);
  const auto typeOf = [](void* memory) {
    cudaPointerAttributes attributes{};
    REQUIRE(cudaPointerGetAttributes(&attributes, memory) == cudaSuccess);
    return attributes.type;
  };
  CHECK(typeOf(device) == cudaMemoryTypeDevice);
  CHECK(typeOf(pooled) == cudaMemoryTypeDevice);
  CHECK(typeOf(host) == cudaMemoryTypeHost);
  CHECK(typeOf(&variable) == cudaMemoryTypeUnregistered);
  CHECK(cudaHostRegister(&variable, sizeof variable, 0) == cudaSuccess);
  CHECK(cudaHostRegister(&variable, sizeof variable, 0) == cudaErrorHostMemoryAlreadyRegistered);
  CHECK(typeOf(&variable) == cudaMemoryTypeHost);
  CHECK(cudaHostGetDevicePointer(&mapped, &variable, 0) == cudaSuccess);
  CHECK(mapped == &variable);
  CHECK(cudaHostUnregister(&variable) == cudaSuccess);
  CHECK(cudaHostUnregister(&variable) == cudaErrorHostMemoryNotRegistered);
  CHECK(cudaHostGetDevicePointer(&mapped, &variable, 0) == cudaErrorInvalidValue);

  cudaIpcMemHandle_t handle;
  CHECK(cudaIpcGetMemHandle(&handle, device) == cudaSuccess);
  CHECK(cudaIpcGetMemHandle(&handle, pooled) == cudaErrorInvalidValue);
  CHECK(cudaIpcGetMemHandle(&handle, host) == cudaErrorInvalidValue);
  CHECK(cudaFreeAsync(pooled, nullptr) == cudaSuccess);
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(typeOf(pooled) == cudaMemoryTypeUnregistered);
  CHECK(cudaFree(device) == cudaSuccess);
  CHECK(cudaFreeHost(host) == cudaSuccess);
}

TEST_CASE("kernels that begin late and threads that are interrupted change no order within a stream") {
  REQUIRE(loadModule(kModule) == cudaSuccess);
  for (int seed = 0; seed < 3; ++seed) {
    const Switched late(unkindness().lateLaunches, seed), interrupted(unkindness().preemptions, seed);
    std::vector<cudaStream_t> streams = newStreams(4);
    std::vector<int> counts(4, 0);
    std::atomic<int> wrong{0};
    for (int i = 0; i < 100; ++i) {
      for (size_t s = 0; s < streams.size(); ++s) {
        launchUserKernel(streams[s], kModule, [&, s, i] { wrong += counts[s]++ != i; });
      }
    }
    for (const cudaStream_t stream : streams) {
      CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
      CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    }
    CHECK(wrong == 0);
  }
}
