// Collectives with two programs: a run whose buffers all members have mapped goes directly, another through connectors,
// and what is prepared of the direct one must not be taken for the other.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "support/expected.hpp"
#include "support/plans.hpp"
#include "world/connected_programs.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr uint32_t kRanks = 3;
constexpr uint64_t kCount = 24;
constexpr uint32_t kLanes = 2;
constexpr uint16_t kMapped = 9;

PlannedCollective plannedOf(Collective collective, uint32_t id) {
  PlannedCollective c = allReduceOf(id, kRanks, kCount);
  c.spec.collective = collective;
  if (collective == Collective::broadcast) c.spec.root = 1;
  return c;
}

class StagedRuns {
 public:
  StagedRuns(const std::vector<Collective>& collectives, uint32_t grid)
      : shape_(steadyShape(kRanks, grid)), memory_(1 << 22), watch_(memory_), world_(shape_), random_(1) {
    Surroundings::violation.clear();
    Surroundings::stepBudgetBytes = 1 << 20;
    Surroundings::togetherBytes = 0;
    table_[windows::kUnmapped].store(windows::kUnused, order::relaxed);
    const auto address = reinterpret_cast<uint64_t>(memory_.allocate(0));
    table_[kMapped].store(windows::baseOf(address, address), order::relaxed);
    for (const Collective collective : collectives) add(collective);
  }

  /// One run of each, in an order of its own on each rank. @param mayUnmapped some buffers are ones that not all have
  /// mapped. @return elements that are wrong.
  uint64_t runAll(bool mayUnmapped) {
    std::vector<uint32_t> order(all_.size());
    for (uint32_t c = 0; c < order.size(); ++c) order[c] = c;
    std::vector<std::vector<uint8_t*>> in(all_.size()), out(all_.size());
    for (uint32_t c = 0; c < all_.size(); ++c) lend(c, in[c], out[c]);
    std::vector<std::vector<uint32_t>> orders(kRanks, order);
    for (auto& mine : orders) random_.shuffle(mine);
    // Each rank submits its next one when it likes.
    std::vector<size_t> next(kRanks);
    size_t completed = 0;
    for (int turn = 0; turn < 20'000 && completed < kRanks * all_.size(); ++turn) {
      ++Surroundings::now;
      const uint32_t rank = random_.below(kRanks);
      if (next[rank] < order.size() && random_.oneIn(3)) {
        const uint32_t c = orders[rank][next[rank]++];
        const uint16_t send = window(mayUnmapped), recv = window(mayUnmapped);
        REQUIRE(world_.submit(rank, indices_[c][rank], in[c][rank], out[c][rank], 0, send, recv).has_value());
      }
      world_.tryStart(rank);
      world_.stepBlock(rank, random_.below(shape_.limits.grid));
      completed += world_.poll(rank).has_value();
    }
    REQUIRE(completed == kRanks * all_.size());
    uint64_t wrong = 0;
    for (uint32_t c = 0; c < all_.size(); ++c) wrong += takeBack(c, in[c], out[c]);
    ++runs_;
    CHECK(Surroundings::violation == "");
    return wrong;
  }

  /// Runs that no task was made of, of all blocks of a rank.
  uint64_t attempted(uint32_t rank) {
    uint64_t attempts = 0;
    for (uint32_t b = 0; b < shape_.limits.grid; ++b) {
      const BlockCounters& counters = world_.memory(rank).blocks[b].counters;
      attempts += counters.visits.read() - counters.queueLengthSum.read();
    }
    return attempts;
  }

 private:
  void add(Collective collective) {
    const auto id = static_cast<uint32_t>(all_.size());
    const PlannedCollective c = plannedOf(collective, id);
    indices_.emplace_back();
    // Registered with the program that needs connections, beside which the direct one is put.
    const std::vector<uint32_t> onOneHost(kRanks);
    for (uint32_t r = 0; r < kRanks; ++r) {
      const auto staged = buildConnectedProgram(collective, onOneHost, r, c.spec.root, kLanes);
      indices_[id].push_back(world_.registerCollective(r, c.spec, staged));
    }
    CollectiveShared& shared = *world_.memory(0).collectives[indices_[id][0]].shared;
    windows_.push_back(std::make_unique<std::vector<windows::Table>>(kRanks, table_.data()));
    known_.push_back(std::make_unique<std::vector<Mailbox>>(kRanks));
    shared.windows = windows_.back()->data();
    shared.knownMailboxes = known_.back()->data();
    for (uint32_t r = 0; r < kRanks; ++r) {
      const auto direct = buildDirectProgram(collective, kRanks, r, c.spec.root, kLanes);
      direct_.push_back(loadProgram(direct, c.spec.type, kCount, shape_.tiles));
      CollectiveRecord& record = world_.memory(r).collectives[indices_[id][r]];
      record.staged = record.program;
      record.program = direct_.back().get();
      record.place(*record.program, record.staged);
    }
    all_.push_back(c);
  }

  uint16_t window(bool mayUnmapped) { return mayUnmapped && random_.oneIn(6) ? windows::kUnmapped : kMapped; }

  void lend(uint32_t which, std::vector<uint8_t*>& in, std::vector<uint8_t*>& out) {
    const CollectiveSpec& spec = all_[which].spec;
    for (uint32_t r = 0; r < kRanks; ++r) {
      const BufferSizes sizes = bufferSizes(spec, r);
      in.push_back(memory_.allocate(sizes.send * sizeof(int32_t)));
      out.push_back(memory_.allocate(sizes.recv * sizeof(int32_t)));
      REQUIRE(out.back() != nullptr);
      memory_.lend(in[r], sizes.send * sizeof(int32_t));
      memory_.lend(out[r], sizes.recv * sizeof(int32_t));
      for (uint64_t i = 0; i < sizes.send; ++i) {
        storeElement(spec.type, in[r] + i * sizeof(int32_t), contribution(spec, r, runs_, i));
      }
    }
  }
  uint64_t takeBack(uint32_t which, const std::vector<uint8_t*>& in, const std::vector<uint8_t*>& out) {
    const CollectiveSpec& spec = all_[which].spec;
    uint64_t wrong = 0;
    for (uint32_t r = 0; r < kRanks; ++r) {
      const BufferSizes sizes = bufferSizes(spec, r);
      for (uint64_t i = 0; i < sizes.recv; ++i) {
        wrong += !isElement(spec.type, out[r] + i * sizeof(int32_t), expected(spec, r, runs_, i));
      }
      memory_.takeBack(in[r], sizes.send * sizeof(int32_t), random_);
      memory_.takeBack(out[r], sizes.recv * sizeof(int32_t), random_);
    }
    return wrong;
  }

  const WorldShape shape_;
  UserMemory memory_;
  const MemoryWatch watch_;
  TestWorld<AllRules> world_;
  Random random_;
  std::vector<PlannedCollective> all_;
  std::vector<std::vector<uint32_t>> indices_;  // [collective][rank]
  std::vector<Atomic<uint64_t>> table_{windows::kCount};
  std::vector<std::unique_ptr<std::vector<windows::Table>>> windows_;
  std::vector<std::unique_ptr<std::vector<Mailbox>>> known_;
  std::vector<std::shared_ptr<const BoundProgram>> direct_;
  uint64_t runs_ = 0;
};

const std::vector<Collective> kSome = {Collective::allReduce, Collective::broadcast, Collective::allToAll,
                                       Collective::allGather, Collective::allReduce, Collective::reduceScatter};

}  // namespace

TEST_CASE("runs go directly or through connectors, as their buffers are mapped, alone and beside others") {
  for (const uint32_t grid : {1u, 2u, 4u}) {
    CAPTURE(grid);
    for (const Collective collective : kSome) {
      CAPTURE(static_cast<int>(collective));
      StagedRuns alone({collective}, grid);
      for (int run = 0; run < 40; ++run) CHECK(alone.runAll(true) == 0);
    }
    StagedRuns beside(kSome, grid);
    for (int run = 0; run < 60; ++run) CHECK(beside.runAll(true) == 0);
  }
}

TEST_CASE("that a run may go through connectors keeps no direct one from being tried at once") {
  for (const Collective collective : {Collective::allReduce, Collective::broadcast, Collective::allToAll}) {
    CAPTURE(static_cast<int>(collective));
    StagedRuns runs({collective}, 1);
    for (int run = 0; run < 20; ++run) CHECK(runs.runAll(false) == 0);
    uint64_t attempted = 0;
    for (uint32_t r = 0; r < kRanks; ++r) attempted += runs.attempted(r);
    CHECK(attempted != 0);
  }
}
