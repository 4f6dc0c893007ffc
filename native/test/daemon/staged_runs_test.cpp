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
constexpr uint32_t kRunsOfEach = 2;  // one behind the other
constexpr uint16_t kMapped = 9;

PlannedCollective plannedOf(Collective collective, uint32_t id) {
  PlannedCollective c = allReduceOf(id, kRanks, kCount);
  c.spec.collective = collective;
  if (collective == Collective::broadcast) c.spec.root = 1;
  return c;
}

/// On how many blocks each of a collective's two programs is.
struct Lanes {
  uint32_t direct, staged;
};

/// A world whose daemons leave at any time, also in the middle of a run.
WorldShape restlessShape(uint32_t grid) {
  Random random(7);
  WorldShape shape = steadyShape(kRanks, grid);
  shape.policy = anyPolicy(random);
  shape.policy.streams = 0;
  return shape;
}

class StagedRuns {
 public:
  StagedRuns(const std::vector<Collective>& collectives, const WorldShape& shape, Lanes lanes = {2, 2})
      : shape_(shape), lanes_(lanes), memory_(1 << 22), watch_(memory_), world_(shape_), random_(1) {
    Surroundings::violation.clear();
    Surroundings::stepBudgetBytes = 1 << 20;
    Surroundings::togetherBytes = 0;
    table_[windows::kUnmapped].store(windows::kUnused, order::relaxed);
    const auto address = reinterpret_cast<uint64_t>(memory_.allocate(0));
    table_[kMapped].store(windows::baseOf(address, address), order::relaxed);
    for (const Collective collective : collectives) add(collective);
  }

  /// Some runs of each, in an order of its own on each rank. @param mayUnmapped some buffers are ones that not all have
  /// mapped. @return elements that are wrong.
  uint64_t runAll(bool mayUnmapped) {
    // Of each collective as many places as it has runs, which come in the order of their numbers.
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < all_.size() * kRunsOfEach; ++i) order.push_back(i / kRunsOfEach);
    std::vector<std::vector<uint8_t*>> in(order.size()), out(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) lend(order[i], in[i], out[i]);
    std::vector<std::vector<uint32_t>> runsOf(kRanks, std::vector<uint32_t>(all_.size()));
    std::vector<std::vector<uint32_t>> orders(kRanks, order);
    for (auto& mine : orders) random_.shuffle(mine);
    // Each rank submits its next one when it likes.
    std::vector<size_t> next(kRanks);
    size_t completed = 0;
    for (int turn = 0; turn < 20'000 && completed < kRanks * order.size(); ++turn) {
      ++Surroundings::now;
      const uint32_t rank = random_.below(kRanks);
      if (next[rank] < order.size() && random_.oneIn(3)) {
        const uint32_t c = orders[rank][next[rank]];
        const uint32_t i = c * kRunsOfEach + runsOf[rank][c];
        const uint16_t send = window(mayUnmapped), recv = window(mayUnmapped);
        // Else the queue is full.
        if (world_.submit(rank, indices_[c][rank], in[i][rank], out[i][rank], 0, send, recv)) {
          ++next[rank];
          ++runsOf[rank][c];
        }
      }
      world_.tryStart(rank);
      world_.stepBlock(rank, random_.below(shape_.limits.grid));
      completed += world_.poll(rank).has_value();
    }
    REQUIRE(completed == kRanks * order.size());
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < order.size(); ++i) wrong += takeBack(order[i], in[i], out[i]);
    ++runs_;
    CHECK(Surroundings::violation == "");
    return wrong;
  }

  /// Bytes that all ranks' blocks have moved on behalf of queued tasks.
  uint64_t movedByTasks() {
    uint64_t bytes = 0;
    for (uint32_t r = 0; r < kRanks; ++r) {
      for (uint32_t b = 0; b < shape_.limits.grid; ++b) bytes += world_.memory(r).blocks[b].counters.bytesMoved.read();
    }
    return bytes;
  }

 private:
  void add(Collective collective) {
    const auto id = static_cast<uint32_t>(all_.size());
    const PlannedCollective c = plannedOf(collective, id);
    indices_.emplace_back();
    // Registered with the program that needs connections, beside which the direct one is put.
    const std::vector<uint32_t> onOneHost(kRanks);
    for (uint32_t r = 0; r < kRanks; ++r) {
      const auto staged = buildConnectedProgram(collective, onOneHost, r, c.spec.root, lanes_.staged);
      indices_[id].push_back(world_.registerCollective(r, c.spec, staged));
    }
    CollectiveShared& shared = *world_.memory(0).collectives[indices_[id][0]].shared;
    windows_.push_back(std::make_unique<std::vector<windows::Table>>(kRanks, table_.data()));
    known_.push_back(std::make_unique<std::vector<Mailbox>>(kRanks));
    shared.windows = windows_.back()->data();
    shared.knownMailboxes = known_.back()->data();
    for (uint32_t r = 0; r < kRanks; ++r) {
      const auto direct = buildDirectProgram(collective, kRanks, r, c.spec.root, lanes_.direct);
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
  const Lanes lanes_;
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
    for (const WorldShape& shape : {steadyShape(kRanks, grid), restlessShape(grid)}) {
      CAPTURE(static_cast<int>(shape.policy.quit.kind));
      for (const Lanes lanes : {Lanes{2, 2}, Lanes{1, 2}}) {
        CAPTURE(lanes.direct);
        for (const Collective collective : kSome) {
          CAPTURE(static_cast<int>(collective));
          StagedRuns alone({collective}, shape, lanes);
          for (int run = 0; run < 30; ++run) REQUIRE(alone.runAll(true) == 0);
        }
        StagedRuns beside(kSome, shape, lanes);
        for (int run = 0; run < 40; ++run) REQUIRE(beside.runAll(true) == 0);
      }
    }
  }
}

TEST_CASE("that a run may go through connectors keeps no direct one from being tried at once") {
  for (const Collective collective : {Collective::allReduce, Collective::broadcast, Collective::allToAll}) {
    CAPTURE(static_cast<int>(collective));
    StagedRuns runs({collective}, steadyShape(kRanks, 1), {1, 1});
    constexpr uint64_t kRuns = 40;
    CHECK(runs.runAll(false) == 0);
    const uint64_t ofFirst = runs.movedByTasks();
    CHECK(ofFirst != 0);
    for (uint64_t run = 1; run < kRuns; ++run) CHECK(runs.runAll(false) == 0);
    // Who comes last finds the others there, and moves at once.
    CHECK(runs.movedByTasks() < kRuns * ofFirst * 9 / 10);
  }
}
