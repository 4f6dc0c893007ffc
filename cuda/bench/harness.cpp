#include "bench/harness.hpp"
#include "world/defaults.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>

namespace dfccl::gpu::bench {

Bed::Bed(const Arguments& arguments) {
  int devices = 0;
  DFCCL_CUDA(cudaGetDeviceCount(&devices));
  ranks_ = static_cast<uint32_t>(arguments.number("--ranks", static_cast<uint64_t>(devices)));
  grid_ = static_cast<uint32_t>(arguments.number("--grid", 17));
  deadlineNanos_ = arguments.number("--deadline-ms", 5000) * 1'000'000;
  for (uint32_t r = 0; r < ranks_; ++r) devices_.push_back(static_cast<int>(r) % devices);
  GpuWorldOptions options;
  options.devices = devices_;
  options.rank.limits.grid = grid_;
  options.rank.limits.submissionSlots = 1024;
  options.rank.limits.completionSlots = 1024;
  options.rank.limits.collectives = 1024;
  options.rank.limits.tasks = static_cast<uint32_t>(arguments.number("--tasks", 8192));
  options.rank.policy = defaultPolicy(BackendKind::cuda);
  scheduling::OrderPolicy& order = options.rank.policy.order;
  order.fetchEveryVisits = static_cast<uint32_t>(arguments.number("--fetch-every", order.fetchEveryVisits));
  order.fetchBatch = static_cast<uint32_t>(arguments.number("--fetch-batch", order.fetchBatch));
  options.rank.policy.quit.residencyTicks = arguments.number("--residency-us", 3000) * 1000;
  options.rank.watchdogNanos = arguments.number("--watchdog-ms", 2000) * 1'000'000;
  options.rank.arenaBytes = size_t{arguments.number("--arena-mb", 256)} << 20;
  if (arguments.text("--sticky", "adaptive") == "off") {
    options.rank.policy.stickiness = {scheduling::StickinessKind::fixed, {}, 1, 1, 1, 0, 256};
  }
  world_ = std::make_unique<GpuWorld>(options);
}

void Bed::onEveryRank(const std::function<void(uint32_t rank)>& work) {
  std::vector<std::thread> threads;
  for (uint32_t r = 0; r < ranks_; ++r) {
    threads.emplace_back([&, r] {
      cudaSetDevice(devices_[r]);
      try {
        work(r);
      } catch (const std::exception& error) {
        fail(error.what());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

uint32_t Bed::submit(uint32_t rank, uint32_t index, const void* send, void* recv) {
  for (;;) {
    const uint32_t slot = world_->rank(rank).submit(index, send, recv);
    if (slot != GpuRank::kFull) return slot;
    cpuPause();
  }
}

void Bed::await(uint32_t rank, uint32_t slot) {
  dfcclResult_t status = dfcclSuccess;
  uint64_t looks = 0;
  const uint64_t begin = nowNanos();
  while (!world_->rank(rank).takeCompletion(slot, status)) {
    cpuPause();
    if (++looks % 4096 == 0 && (nowNanos() - begin > deadlineNanos_ || world_->rank(rank).isLost())) {
      fail("rank " + std::to_string(rank) + " waits for completion slot " + std::to_string(slot));
    }
  }
}

std::string Bed::countersJson() {
  std::string json = "[";
  for (uint32_t r = 0; r < ranks_; ++r) {
    BlockCounters sum{};
    uint64_t longest = 0;
    for (const BlockCounters& c : world_->rank(r).readCounters()) {
      sum.visits.add(c.visits.read());
      sum.stuckVisits.add(c.stuckVisits.read());
      sum.slices.add(c.slices.read());
      sum.preemptions.add(c.preemptions.read());
      sum.contextLoads.add(c.contextLoads.read());
      sum.contextSaves.add(c.contextSaves.read());
      sum.tasksCompleted.add(c.tasksCompleted.read());
      longest = std::max(longest, c.queueLengthMax.read());
    }
    char text[512];
    std::snprintf(
        text, sizeof text,
        "%s{\"rank\":%u,\"launches\":%lu,\"visits\":%lu,\"stuckVisits\":%lu,\"slices\":%lu,\"preemptions\":%lu,"
        "\"contextLoads\":%lu,\"contextSaves\":%lu,\"tasks\":%lu,\"longestQueue\":%lu}",
        r ? "," : "", r, world_->rank(r).launches(), sum.visits.read(), sum.stuckVisits.read(), sum.slices.read(),
        sum.preemptions.read(), sum.contextLoads.read(), sum.contextSaves.read(), sum.tasksCompleted.read(), longest);
    json += text;
  }
  return json + "]";
}

void Bed::fail(const std::string& what) {
  static std::mutex reporting;  // never given back: the first report is the last thing that this process does
  reporting.lock();
  std::printf("{\"failed\":\"%s\",\"ranks\":[", what.c_str());
  for (uint32_t r = 0; world_ && r < ranks_; ++r) {
    GpuRank& rank = world_->rank(r);
    const SubmissionRing& ring = rank.memory().submissions;
    std::printf(
        "%s{\"rank\":%u,\"lost\":%d,\"launches\":%lu,\"inFlight\":%lu,\"resident\":%u,\"tail\":%lu,\"head\":%lu",
        r ? "," : "", r, rank.isLost(), rank.launches(), rank.inFlight(),
        rank.memory().residency.resident.load(order::relaxed), ring.header->tail.load(order::relaxed),
        ring.header->head.load(order::relaxed));
    std::fflush(stdout);
    try {
      std::printf(",\"saved\":[");
      const std::vector<uint32_t> lengths = rank.readSavedLengths();
      for (size_t b = 0; b < lengths.size(); ++b) std::printf("%s%u", b ? "," : "", lengths[b]);
      std::printf("]");
    } catch (const std::exception& error) {
      std::printf("],\"cuda\":\"%s\"", error.what());
    }
    std::printf("}");
  }
  std::printf("]}\n");
  try {
    if (world_) std::printf("{\"counters\":%s}\n", countersJson().c_str());
  } catch (const std::exception& error) {
    std::printf("{\"counters\":\"%s\"}\n", error.what());
  }
  std::fflush(stdout);
  _exit(3);
}

Buffers::Buffers(int device, size_t bytes, unsigned streamFlags) : device_(device) {
  const OnDevice here(device);
  DFCCL_CUDA(cudaMalloc(reinterpret_cast<void**>(&memory_), bytes));
  DFCCL_CUDA(cudaMalloc(reinterpret_cast<void**>(&wrong_), sizeof(unsigned)));
  DFCCL_CUDA(cudaStreamCreateWithFlags(&stream_, streamFlags));
  DFCCL_CUDA(cudaMemsetAsync(memory_, 0xff, bytes, stream_));
  DFCCL_CUDA(cudaMemsetAsync(wrong_, 0, sizeof(unsigned), stream_));
  DFCCL_CUDA(cudaStreamSynchronize(stream_));
}

unsigned Buffers::wrongSoFar() {
  const OnDevice here(device_);
  unsigned wrong = 0;
  DFCCL_CUDA(cudaMemcpyAsync(&wrong, wrong_, sizeof wrong, cudaMemcpyDeviceToHost, stream_));
  DFCCL_CUDA(cudaStreamSynchronize(stream_));
  return wrong;
}

}  // namespace dfccl::gpu::bench
