// What a run passes through on a GPU, whatever it computes (DFCCL, Fig. 7): reading an entry, loading and saving a
// context, posting a completion, with the engine's queues and with the papers'. What lies between, `phases` tells.
#include <cstdio>
#include <optional>
#include <string>

#include "bench/all_reduces.hpp"
#include "bench/overheads.cuh"
#include "bench/timing.hpp"
#include "bench/trace_gaps.hpp"
#include "queues/submission_producer.hpp"

namespace dfccl::gpu::bench {
namespace {

constexpr uint32_t kCapacity = 1024;

/// Where the kernels leave their samples, and the stream that they run on.
class Samples {
 public:
  explicit Samples(int device) : device_(device), nanosPerCycle_(nanosPerCycleOf(device)) {
    const OnDevice here(device);
    DFCCL_CUDA(cudaMalloc(reinterpret_cast<void**>(&cycles), kMost * sizeof(uint32_t)));
    DFCCL_CUDA(cudaMalloc(reinterpret_cast<void**>(&results), kMost * sizeof(uint64_t)));
    DFCCL_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }

  /// Waits for the kernel and prints what it took. @param what JSON members.
  void print(const char* what, uint32_t count) {
    const OnDevice here(device_);
    std::vector<uint32_t> each(count);
    DFCCL_CUDA(cudaMemcpyAsync(each.data(), cycles, count * sizeof(uint32_t), cudaMemcpyDeviceToHost, stream));
    DFCCL_CUDA(cudaStreamSynchronize(stream));
    std::vector<double> nanos;
    for (const uint32_t c : each) nanos.push_back(c * nanosPerCycle_);
    std::printf("{\"bench\":\"overheads\",%s,\"samples\":%u,\"p10Ns\":%.0f,\"medianNs\":%.0f,\"p90Ns\":%.0f}\n", what,
                count, percentile(nanos, 0.1), median(nanos), percentile(nanos, 0.9));
    std::fflush(stdout);
  }

  static constexpr uint32_t kMost = 64 << 10;
  uint32_t* cycles = nullptr;
  uint64_t* results = nullptr;
  cudaStream_t stream = nullptr;

 private:
  const int device_;
  const double nanosPerCycle_;
};

/// Fails where the GPU can't swap in the host's memory, unless told that no other processor does so at the same time.
std::optional<std::string> refusal(const Guarantees& guarantees, int device, bool isTold) {
  int isNative = 0;
  DFCCL_CUDA(cudaDeviceGetAttribute(&isNative, cudaDevAttrHostNativeAtomicSupported, device));
  if (!guarantees.needsHostAtomics || isNative != 0 || isTold) return std::nullopt;
  return "compare-and-swap on host memory is not atomic against the host here (cudaDevAttrHostNativeAtomicSupported is "
         "0); --without-host-atomics 1 measures it all the same";
}

template <class Queue>
void post(Samples& samples, uint32_t producers, uint32_t each) {
  const uint32_t count = producers * each;
  PinnedMemory memory(Queue::bytes(kCapacity) + 256);
  const Queue queue{Queue::create(memory.take(Queue::bytes(kCapacity)), kCapacity)};
  if constexpr (requires { typename Queue::Claimer; }) {
    typename Queue::Claimer claimer(queue);
    for (uint32_t i = 0; i < count; ++i) claimer.tryClaim();
  }
  typename Queue::Poller poller(queue);
  launchPosts(queue, producers, each, samples.cycles, samples.results, samples.stream);
  for (uint32_t got = 0; got < count;) got += poller.poll().has_value();
  DFCCL_CUDA(cudaStreamSynchronize(samples.stream));
}

template <class Queue>
void measurePosts(const char* name, Samples& samples, int device, bool isTold) {
  constexpr uint32_t kEach = 64;
  if (const auto why = refusal(Queue::kGuarantees, device, isTold)) {
    std::printf("{\"bench\":\"overheads\",\"part\":\"post\",\"queue\":\"%s\",\"refused\":\"%s\"}\n", name,
                why->c_str());
    return;
  }
  for (const uint32_t producers : {1u, 16u}) {
    post<Queue>(samples, producers, kEach);  // loads the kernel
    post<Queue>(samples, producers, kEach);
    char what[160];
    std::snprintf(what, sizeof what, "\"part\":\"post\",\"queue\":\"%s\",\"producers\":%u,\"hostOperations\":%d", name,
                  producers, Queue::kGuarantees.operationsPerPost);
    samples.print(what, producers * kEach);
  }
}

void measureSpmcReads(Samples& samples) {
  constexpr uint32_t kCount = 500;
  for (const uint32_t blocks : {1u, 16u, 32u}) {
    PinnedMemory memory(SpmcSubmission::bytes(kCapacity) + 256);
    const SpmcSubmission ring =
        SpmcSubmission::create(memory.take(SpmcSubmission::bytes(kCapacity)), kCapacity, blocks);
    launchSpmcReads(ring, blocks, kCount, samples.cycles, samples.stream);
    SpmcProducer<> producer(ring);
    Sqe sqe{};
    for (uint32_t i = 0; i < kCount; ++i) {
      while (!producer.trySubmit(sqe)) cpuPause();
      // The next one when all blocks have read this one.
      const uint32_t freed = i + kCapacity;
      while (ring.slot(i).turn.load(order::acquire) != freed) cpuPause();
    }
    char what[96];
    std::snprintf(what, sizeof what, "\"part\":\"read\",\"queue\":\"spmc\",\"blocks\":%u", blocks);
    samples.print(what, blocks * kCount);
  }
}

void measureLeaderReads(Samples& samples) {
  constexpr uint32_t kCount = 500;
  PinnedMemory memory(SubmissionRing::bytes(kCapacity) + 256);
  const SubmissionRing ring = SubmissionRing::create(memory.take(SubmissionRing::bytes(kCapacity)), kCapacity);
  launchLeaderReads(ring, kCount, samples.cycles, samples.stream);
  SubmissionProducer<> producer(ring, 1);
  const Sqe sqe{};
  for (uint32_t i = 0; i < kCount; ++i) {
    producer.submit(&sqe, 1);
    while (ring.header->head.load(order::acquire) != i + 1) cpuPause();
  }
  samples.print("\"part\":\"read\",\"queue\":\"one warp of the leader's block\",\"blocks\":1", kCount);
}

void measureContexts(Bed& bed, Samples& samples) {
  constexpr uint32_t kTasks = 1000;
  CollectiveSpec spec;
  spec.count = 2;
  spec.ranks = everyRank(bed.ranks());
  for (uint32_t id = 0; id < kTasks; ++id) {
    spec.id = id;
    for (uint32_t r = 0; r < bed.ranks(); ++r) bed.world().registerCollective(r, spec, 1);
  }
  // The rank's own memory is written by its daemon, which nobody waits for here.
  auto* const memory = static_cast<RankMemory*>(bed.world().allocate(0, sizeof(RankMemory)));
  bed.world().copyIn(0, memory, &bed.world().memory(0), sizeof(RankMemory));
  for (const bool isDirty : {false, true}) {
    for (const bool isWarmUp : {true, false}) {
      launchContextLoads(memory, kTasks, isDirty, samples.cycles, samples.stream);
      DFCCL_CUDA(cudaStreamSynchronize(samples.stream));
      if (isWarmUp) continue;
      samples.print(isDirty ? "\"part\":\"context\",\"what\":\"load, and save the one before\""
                            : "\"part\":\"context\",\"what\":\"load\"",
                    kTasks);
    }
  }
}

}  // namespace

/// --without-host-atomics 1: also queues that need what this machine may lack.
int runOverheads(const Arguments& arguments) {
  Bed bed(arguments);
  const int device = bed.device(0);
  const OnDevice here(device);
  const bool isTold = arguments.number("--without-host-atomics", 0) != 0;
  Samples samples(device);
  measureLeaderReads(samples);
  measureSpmcReads(samples);
  measureContexts(bed, samples);
  measurePosts<OwnedSlotsByDaemon>("owned, as the daemon posts", samples, device, isTold);
  measurePosts<CompletionOwnedSlots<>>("owned", samples, device, isTold);
  measurePosts<CompletionCasSlots<>>("cas", samples, device, isTold);
  measurePosts<CompletionPackedRing<>>("packed", samples, device, isTold);
  measurePosts<CompletionVanillaRing<>>("vanilla", samples, device, isTold);
  return 0;
}

}  // namespace dfccl::gpu::bench
