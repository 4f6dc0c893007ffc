#pragma once
// Plans that tests share.
#include <numeric>

#include "plan.hpp"

namespace dfccl::test {

/// Any policy that preempts and leaves, with thresholds and times so small that everything happens often.
inline scheduling::SchedulePolicy anyPolicy(Random& random) {
  using namespace scheduling;
  SchedulePolicy p{};
  p.version = kSchedulePolicyVersion;
  p.order.kind = random.among({OrderKind::fifo, OrderKind::lifo, OrderKind::priority});
  p.order.fetchEveryVisits = random.among({0u, 1u, 3u});
  p.order.fetchWhenStuckVisits = random.among({1u, 4u});
  p.order.fetchBatch = random.among({1u, 2u, 64u});
  p.order.fetchesPerLap = random.among({1u, 4u, 64u});
  p.stickiness.kind = random.among({StickinessKind::fixed, StickinessKind::decreasing, StickinessKind::adaptive});
  p.stickiness.minimumThreshold = 1;
  p.stickiness.maximumThreshold = random.among({3u, 8u});
  p.stickiness.initialThreshold = random.among({1u, 3u});
  p.stickiness.perPositionDecrement = random.among({0u, 1u});
  p.stickiness.raiseFactor256ths = random.among({256u, 512u, 5120u});
  p.quit.kind = QuitKind::voluntary;
  p.quit.idleVisits = random.among({9u, 30u});
  p.quit.idleTicks = random.among({uint64_t{0}, uint64_t{40}});
  p.quit.residencyTicks = random.among({uint64_t{20}, uint64_t{200}, uint64_t{3000}});
  return p;
}

/// A world whose daemons don't leave, and with no in-order mode.
inline WorldShape steadyShape(uint32_t ranks, uint32_t grid) {
  Random random(1);
  WorldShape shape;
  shape.ranks = ranks;
  shape.limits.grid = grid;
  shape.policy = anyPolicy(random);
  shape.policy.streams = 0;
  shape.policy.quit.kind = scheduling::QuitKind::never;
  shape.tiles = {1 << 10, 1 << 10};
  return shape;
}

inline std::vector<uint32_t> firstRanks(uint32_t n) {
  std::vector<uint32_t> ranks(n);
  std::iota(ranks.begin(), ranks.end(), 0u);
  return ranks;
}

inline PlannedCollective allReduceOf(uint32_t id, uint32_t ranks, uint64_t count, ProgramOf program = {}) {
  PlannedCollective c;
  c.spec.id = id;
  c.spec.count = count;
  c.spec.type = DataType::int32;
  c.spec.ranks = firstRanks(ranks);
  c.program = std::move(program);
  return c;
}

inline PlannedCollective broadcastOf(uint32_t id, uint32_t ranks, uint64_t count, uint32_t root,
                                     ProgramOf program = {}) {
  PlannedCollective c = allReduceOf(id, ranks, count, std::move(program));
  c.spec.collective = Collective::broadcast;
  c.spec.root = root;
  return c;
}

/// Any collective with any of the programs, over any of the ranks.
inline PlannedCollective anyCollective(Random& random, uint32_t id, uint32_t worldSize) {
  PlannedCollective c;
  CollectiveSpec& s = c.spec;
  s.id = id;
  s.ranks = firstRanks(worldSize);
  random.shuffle(s.ranks);
  s.ranks.resize(1 + random.below(worldSize));
  const auto n = static_cast<uint32_t>(s.ranks.size());
  s.count = random.among({uint64_t{0}, uint64_t{1}, uint64_t{7}, uint64_t{16}, uint64_t{33}});
  s.type = random.among({DataType::uint8, DataType::int32, DataType::float32, DataType::float64});
  s.priority = static_cast<int32_t>(random.below(4)) - 1;
  const Protocol protocol = static_cast<Protocol>(random.below(kProtocolCount));
  ReduceOp op = random.among({ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg,
                              ReduceOp::scaledSum, ReduceOp::bitAnd, ReduceOp::bitOr, ReduceOp::bitXor});
  if (!isDefined(op, s.type)) op = ReduceOp::sum;
  switch (random.below(10)) {
    case 0:
      s.op = op;
      c.program = ringAllReduce(protocol, n, 1 + random.below(5), 2 + random.below(3));
      c.isInPlace = random.oneIn(2);
      break;
    case 1:
      s.op = op;
      c.program = stagedRingAllReduce(protocol, n);
      c.isInPlace = random.oneIn(2);
      break;
    case 2:
      s.collective = Collective::broadcast;
      s.root = random.below(n);
      c.program = chainBroadcast(protocol, n, s.root, 1 + random.below(3));
      break;
    case 3:
      s.op = op;
      c.program = directAllReduce(n, 1 + random.below(3));
      c.isInPlace = random.oneIn(2);
      break;
    case 8:
      s.op = op;
      if (n > 1) {
        const uint32_t lanes = 1 + random.below(3);
        c.program = [=](uint32_t member) { return buildExchangeProgram(n, member, lanes); };
      }
      c.isInPlace = random.oneIn(2);
      break;
    case 9: {
      if (n > 1) {
        s.collective = random.among({Collective::allReduce, Collective::broadcast, Collective::reduce});
        s.root = random.below(n);
        const uint32_t lanes = 1 + random.below(3);
        c.program = [=, which = s.collective, root = s.root](uint32_t member) {
          return buildLargeProgram(which, n, member, root, lanes);
        };
      }
      if (s.collective != Collective::broadcast) s.op = op;
      c.isInPlace = random.oneIn(2);
      break;
    }
    case 4:
      s.collective = Collective::allGather;
      c.program = pushAllGather(n);
      c.isInPlace = random.oneIn(2);
      break;
    default:
      s.collective = random.among({Collective::allReduce, Collective::allGather, Collective::reduceScatter,
                                   Collective::reduce, Collective::broadcast, Collective::allToAll, Collective::gather,
                                   Collective::scatter, Collective::barrier});
      s.root = random.below(n);
      if (s.collective == Collective::allReduce || s.collective == Collective::reduceScatter ||
          s.collective == Collective::reduce) {
        s.op = op;
      }
      break;
  }
  return c;
}

/// Each rank registers the collectives and submits `runs` runs of each, all in an order of its own, and synchronizes
/// now and then.
inline void addThreads(Plan& plan, Random& random, uint32_t runs, uint32_t syncOneIn) {
  for (uint32_t rank = 0; rank < plan.shape.ranks; ++rank) {
    AppThread thread{rank, {}};
    std::vector<uint32_t> mine;
    for (uint32_t c = 0; c < plan.collectives.size(); ++c) {
      const auto& ranks = plan.collectives[c].spec.ranks;
      if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) mine.push_back(c);
    }
    random.shuffle(mine);
    const bool registersFirst = random.oneIn(2);
    std::vector<uint32_t> submissions;
    for (const uint32_t c : mine) {
      if (registersFirst) thread.actions.push_back({Action::enroll, c});
      submissions.insert(submissions.end(), runs, c);
    }
    random.shuffle(submissions);
    std::vector<bool> isRegistered(plan.collectives.size(), registersFirst);
    for (const uint32_t c : submissions) {
      if (!isRegistered[c]) thread.actions.push_back({Action::enroll, c});
      isRegistered[c] = true;
      thread.actions.push_back({Action::submit, c});
      if (syncOneIn != 0 && random.oneIn(syncOneIn)) thread.actions.push_back({Action::synchronize});
    }
    plan.threads.push_back(std::move(thread));
  }
}

/// Everything at once.
inline Plan anyPlan(Random& random) {
  Plan plan;
  plan.shape.ranks = 1 + random.below(4);
  plan.shape.limits.grid = 1 + random.below(4);
  plan.shape.policy = anyPolicy(random);
  plan.shape.tiles.slotPayloadBytes = random.among({8u, 16u, 64u});
  plan.shape.tiles.directTileBytes = random.among({8u, 32u, 1024u});
  plan.stepBudgetBytes = random.among({0, 0, 40, 1 << 20});
  const uint32_t collectives = 1 + random.below(10);
  for (uint32_t id = 0; id < collectives; ++id) {
    plan.collectives.push_back(anyCollective(random, id, plan.shape.ranks));
  }
  addThreads(plan, random, 1 + random.below(3), random.among({0u, 2u, 6u}));
  plan.togetherBytes = random.among({0u, 256u, 1u << 20});
  return plan;
}

}  // namespace dfccl::test
