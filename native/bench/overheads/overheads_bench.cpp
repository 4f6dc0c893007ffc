// What submission, scheduling and completion add to executing a program, and where it goes. One JSON object a line.
//
//   overheads_bench [--budget SECONDS]
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "arguments.hpp"
#include "machine_probe.hpp"
#include "overheads/whole_loop.hpp"
#include "queues/completion_cas_slots.hpp"
#include "queues/completion_packed_ring.hpp"
#include "queues/completion_vanilla_ring.hpp"

namespace {

using namespace dfccl;
using namespace dfccl::bench;

double budgetSeconds = 0.1;

void printPart(const char* part, const Timing& t, double perUnit) {
  std::printf("{\"part\":\"%s\",\"ns\":%.1f,\"bestNs\":%.1f}\n", part, t.medianMicros * 1000 / perUnit,
              t.bestMicros * 1000 / perUnit);
  std::fflush(stdout);
}

/// Times two halves of a round by themselves, e.g. filling a queue and emptying it.
template <class First, class Second>
std::pair<Timing, Timing> measureHalves(const First& first, const Second& second) {
  std::vector<double> firsts, seconds;
  first();
  second();
  const double end = nowMicros() + budgetSeconds * 1e6;
  while (nowMicros() < end || firsts.size() < 5) {
    const double begin = nowMicros();
    first();
    const double middle = nowMicros();
    second();
    firsts.push_back(middle - begin);
    seconds.push_back(nowMicros() - middle);
  }
  return {summarize(std::move(firsts), 0), summarize(std::move(seconds), 0)};
}

struct FreeAligned {
  void operator()(void* p) const { std::free(p); }
};
std::unique_ptr<void, FreeAligned> queueMemory(size_t bytes) {
  return std::unique_ptr<void, FreeAligned>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
}

constexpr uint32_t kEntries = 256;

void measureSubmissionQueue() {
  const auto memory = queueMemory(SubmissionRing::bytes(kEntries));
  const SubmissionRing ring = SubmissionRing::create(memory.get(), kEntries);
  EngineSubmissionProducer producer(ring, 1);
  EngineSubmissionConsumer consumer(ring);
  Sqe sqe{};
  const auto write = [&] {
    for (uint32_t i = 0; i < kEntries; ++i) producer.submit(&sqe, 1);
  };
  const auto read = [&] {
    while (consumer.take(sqe)) {
    }
  };
  const auto [writes, reads] = measureHalves(write, read);
  printPart("sqeWrite", writes, kEntries);
  printPart("sqeRead", reads, kEntries);
  std::vector<Sqe> batch(kEntries);
  const auto [batches, others] = measureHalves([&] { producer.submit(batch.data(), kEntries); }, read);
  printPart("sqeWriteInBatch", batches, kEntries);
}

template <class Queue>
void measureCompletionQueue(const char* name, Queue queue) {
  typename Queue::Producer producer(queue);
  typename Queue::Poller poller(queue);
  // Slots that the runs own are claimed as their submissions would.
  std::vector<uint32_t> slots(kEntries, 0);
  const auto claim = [&] {
    if constexpr (requires { typename Queue::Claimer; }) {
      typename Queue::Claimer claimer(queue);
      for (uint32_t& slot : slots) slot = claimer.tryClaim();
    }
  };
  claim();
  const auto write = [&] {
    for (uint32_t i = 0; i < kEntries; ++i) producer.post(slots[i], packCqe(i, CqeStatus::completed, 1));
  };
  const auto poll = [&] {
    for (uint32_t i = 0; i < kEntries; ++i) poller.poll();
  };
  std::vector<double> writes, polls;
  const double end = nowMicros() + budgetSeconds * 1e6;
  while (nowMicros() < end) {
    const double begin = nowMicros();
    write();
    const double middle = nowMicros();
    poll();
    writes.push_back(middle - begin);
    polls.push_back(nowMicros() - middle);
    claim();
  }
  printPart((std::string("cqeWrite:") + name).c_str(), summarize(std::move(writes), 0), kEntries);
  printPart((std::string("cqePoll:") + name).c_str(), summarize(std::move(polls), 0), kEntries);
}

template <class Queue>
void measureCompletionQueue(const char* name) {
  const auto memory = queueMemory(Queue::bytes(kEntries));
  measureCompletionQueue(name, Queue::create(memory.get(), kEntries));
}

void measureFeed() {
  const auto memory = queueMemory(BlockFeed::bytes(kEntries, 2));
  const BlockFeed feed = BlockFeed::create(memory.get(), kEntries, 2);
  BroadcastLeader<FeedEntry> leader(feed);
  BroadcastReader<FeedEntry> first(feed, 0), second(feed, 1);
  FeedEntry entry{};
  const auto publish = [&] {
    while (leader.tryPublish(entry)) {
    }
  };
  const auto read = [&] {
    while (first.take(entry)) second.take(entry);
  };
  const auto [writes, reads] = measureHalves(publish, read);
  printPart("feedPublish", writes, kEntries);
  printPart("feedTakeByTwoBlocks", reads, kEntries);
}

// 256 collectives that the peer has not submitted: the daemon takes them in, and can't go on.
void measureTakingIn() {
  WholeLoop loop(2, 8, kEntries);
  CpuPlatform<> platform;
  std::vector<double> submits, takes, stucks;
  const double end = nowMicros() + budgetSeconds * 1e6;
  while (nowMicros() < end) {
    const double begin = nowMicros();
    for (uint32_t c = 0; c < kEntries; ++c) loop.submit(0, c);
    const double submitted = nowMicros();
    loop.rank(0).step(platform);
    const double taken = nowMicros();
    for (uint32_t i = 0; i < kEntries; ++i) loop.rank(0).step(platform);
    const double polled = nowMicros();
    submits.push_back(submitted - begin);
    takes.push_back(taken - submitted);
    stucks.push_back(polled - taken);
    for (uint32_t c = 0; c < kEntries; ++c) loop.submit(1, c);
    loop.finish();
  }
  printPart("submit", summarize(std::move(submits), 0), kEntries);
  printPart("takeIn", summarize(std::move(takes), 0), kEntries);
  printPart("stepStuck", summarize(std::move(stucks), 0), kEntries);
}

void measureContexts() {
  WholeLoop loop(1, 8, 64);
  RankMemory& memory = loop.rank(0).memory();
  BlockCounters counters{};
  ContextSlots<CpuPlatform<>> slots(memory, 0);
  const auto visit = [&](bool changes) {
    return [&, changes](int n) {
      for (int i = 0; i < n; ++i) {
        for (uint32_t task = 0; task < 2 * slots.kSlots; ++task) {
          slots.load(memory, memory.blocks[0], counters, task, memory.contexts[task].collective).isDirty = changes;
        }
      }
    };
  };
  const Timing loads = measure(visit(false), budgetSeconds);
  const Timing both = measure(visit(true), budgetSeconds);
  printPart("contextLoad", loads, 2 * slots.kSlots);
  printPart("contextLoadAndSave", both, 2 * slots.kSlots);
}

// A barrier of one rank has no step: what is left is the way through the queues.
void measureNoop() {
  CpuWorld world(worldOptions(1));
  CollectiveSpec spec = allReduceSpec(1, 1, 0);
  spec.collective = Collective::barrier;
  const uint32_t index = world.registerCollective(0, spec);
  CpuRank& rank = world.rank(0);
  uint64_t completed = 0;
  const auto count = [](void* argument, dfcclResult_t) { ++*static_cast<uint64_t*>(argument); };
  const auto repeat = [&](int n) {
    for (int i = 0; i < n; ++i) {
      for (uint32_t k = 0; k < kEntries; ++k) rank.submit(index, nullptr, nullptr, count, &completed);
      while (rank.inFlight() != 0) {
        world.drive();
        rank.deliver();
      }
    }
  };
  const Timing many = measure(repeat, budgetSeconds);
  printPart("noopOfMany", many, kEntries);
  std::printf("{\"noopRunsPerSecond\":%.0f}\n", kEntries / many.medianMicros * 1e6);
  const auto one = [&](int n) {
    for (int i = 0; i < n; ++i) {
      rank.submit(index, nullptr, nullptr, count, &completed);
      while (rank.inFlight() != 0) {
        world.drive();
        rank.deliver();
      }
    }
  };
  printPart("noopAlone", measure(one, budgetSeconds), 1);
}

void measureWhole(uint32_t ranks, uint64_t bytes) {
  BareLoop bare(ranks, bytes);
  WholeLoop whole(ranks, bytes);
  const auto repeat = [](auto& loop) {
    return [&loop](int n) {
      for (int i = 0; i < n; ++i) loop.run();
    };
  };
  // In turns, so that both meet the same machine.
  std::vector<double> bareMicros, wholeMicros;
  const BatchPlan plan = planBatches(estimateMicros(repeat(whole)), budgetSeconds);
  for (int b = 0; b < plan.batches; ++b) {
    const double begin = nowMicros();
    repeat(bare)(plan.perBatch);
    const double middle = nowMicros();
    repeat(whole)(plan.perBatch);
    bareMicros.push_back((middle - begin) / plan.perBatch);
    wholeMicros.push_back((nowMicros() - middle) / plan.perBatch);
  }
  const Timing b = summarize(std::move(bareMicros), 0);
  const Timing w = summarize(std::move(wholeMicros), 0);
  std::printf(
      "{\"ranks\":%u,\"bytes\":%llu,\"wholeUs\":%.3f,\"bareUs\":%.3f,\"addedNsPerRank\":%.0f,\"ratio\":%.2f,\"wrong\":"
      "%llu}\n",
      ranks, static_cast<unsigned long long>(bytes), w.medianMicros, b.medianMicros,
      (w.medianMicros - b.medianMicros) * 1000 / ranks, w.medianMicros / b.medianMicros,
      static_cast<unsigned long long>(bare.wrong() + whole.wrong()));
  std::fflush(stdout);
}

size_t residentBytes() {
  size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * 4096;
}

void measureMemory() {
  constexpr uint32_t kRanks = 8, kCollectives = 1000;
  CpuWorld world(worldOptions(kRanks));
  const size_t before = residentBytes();
  size_t accounted = 0;
  for (uint32_t c = 0; c < kCollectives; ++c) {
    for (uint32_t r = 0; r < kRanks; ++r) {
      // Counts of their own, so that no two share a bound program.
      const uint32_t index = world.registerCollective(r, allReduceSpec(c, kRanks, 4096 + 4 * c));
      if (r + 1 == kRanks) {
        for (uint32_t member = 0; member < kRanks; ++member) accounted += world.memoryBytesOf(member, index);
      }
    }
  }
  std::printf(
      "{\"registered\":%u,\"ranks\":%u,\"bytesPerRankAndCollective\":%.0f,\"residentBytesPerRankAndCollective\":%.0f,"
      "\"arenaBytes\":%zu}\n",
      kCollectives, kRanks, static_cast<double>(accounted) / kCollectives / kRanks,
      static_cast<double>(residentBytes() - before) / kCollectives / kRanks, world.arenaUsedBytes());
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, {"budget"}, "overheads_bench [--budget SECONDS]\n");
  budgetSeconds = arguments.number("budget", 0.1);
  printMachineProbe();
  measureSubmissionQueue();
  measureTakingIn();
  measureFeed();
  measureContexts();
  measureCompletionQueue<CompletionOwnedSlots<>>("owned");
  measureCompletionQueue<CompletionCasSlots<>>("cas");
  measureCompletionQueue<CompletionPackedRing<>>("packed");
  measureCompletionQueue<CompletionVanillaRing<>>("vanilla");
  measureNoop();
  for (const uint32_t ranks : {2u, 8u}) {
    for (const uint64_t bytes : {8ul, 4096ul, 65536ul, 1048576ul}) measureWhole(ranks, bytes);
  }
  measureMemory();
}
