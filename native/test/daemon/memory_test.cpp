// Connector memory: from one owner to the next, and round the wrap of its counters.
#include "support/plans.hpp"
#include "support/seeds.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

/// One collective after another, each with the connectors that one before it had.
Plan successors(Random& random, Protocol protocol) {
  Plan plan;
  plan.shape.ranks = 2 + random.below(2);
  plan.shape.limits.grid = 1 + random.below(2);
  plan.shape.policy = anyPolicy(random);
  const uint32_t n = plan.shape.ranks;
  for (uint32_t id = 0; id < 6; ++id) {
    // Slots enough for a run to be over in a single lap: an old flag may then be one that the next owner looks for.
    plan.collectives.push_back(allReduceOf(id, n, 9, ringAllReduce(protocol, n, 1, 8)));
  }
  std::vector<uint32_t> runs;
  for (size_t c = 0; c < plan.collectives.size(); ++c) runs.push_back(1 + random.below(2));
  for (uint32_t rank = 0; rank < n; ++rank) {
    AppThread thread{rank, {}};
    for (uint32_t c = 0; c < plan.collectives.size(); ++c) {
      thread.actions.push_back({Action::enroll, c});
      for (uint32_t run = 0; run < runs[c]; ++run) thread.actions.push_back({Action::submit, c});
      thread.actions.push_back({Action::await, c});
      thread.actions.push_back({Action::unregister, c});
    }
    plan.threads.push_back(std::move(thread));
  }
  return plan;
}

/// The root is done with a broadcast, and begins the next, while those down the chain are still in an earlier one.
Plan earlyLeaver(Random& random) {
  constexpr uint32_t kRanks = 3, kBroadcasts = 12;
  Plan plan;
  plan.shape.ranks = kRanks;
  plan.shape.policy = anyPolicy(random);
  AppThread root{0, {}};
  std::vector<Action> enrolls, submits;
  for (uint32_t id = 0; id < kBroadcasts; ++id) {
    plan.collectives.push_back(broadcastOf(id, kRanks, 8, 0, chainBroadcast(Protocol::simple, kRanks, 0, 2)));
    for (const Action::Kind kind : {Action::enroll, Action::submit, Action::await, Action::unregister}) {
      root.actions.push_back({kind, id});
    }
    enrolls.push_back({Action::enroll, id});
    submits.push_back({Action::submit, id});
  }
  plan.threads.push_back(std::move(root));
  for (uint32_t rank = 1; rank < kRanks; ++rank) {
    AppThread thread{rank, enrolls};
    for (uint32_t left = kBroadcasts; left > 1; --left) std::swap(submits[left - 1], submits[random.below(left)]);
    thread.actions.insert(thread.actions.end(), submits.begin(), submits.end());
    plan.threads.push_back(std::move(thread));
  }
  return plan;
}

/// Unregisters at once. What is refused is tried again.
Plan hasty(Random& random) {
  Plan plan;
  plan.shape.ranks = 2;
  plan.shape.policy = anyPolicy(random);
  for (uint32_t id = 0; id < 3; ++id) {
    plan.collectives.push_back(allReduceOf(id, 2, 9, ringAllReduce(Protocol::simple, 2)));
  }
  for (uint32_t rank = 0; rank < 2; ++rank) {
    AppThread thread{rank, {}};
    for (uint32_t c = 0; c < 3; ++c) {
      for (const Action::Kind kind : {Action::enroll, Action::submit, Action::unregister}) {
        thread.actions.push_back({kind, c});
      }
    }
    plan.threads.push_back(std::move(thread));
  }
  return plan;
}

template <class MakePlan>
auto mistaken(const MakePlan& makePlan, bool HostMistakes::*mistake) {
  return [&makePlan, mistake](Random& random) {
    Plan plan = makePlan(random);
    plan.shape.mistakes.*mistake = true;
    return plan;
  };
}

}  // namespace

TEST_CASE("nothing of a connector's former owner looks like the new owner's") {
  for (const Protocol protocol : everyProtocol()) {
    const auto plan = [protocol](Random& random) { return successors(random, protocol); };
    everySeedHolds(200, plan);
    // Simple has no flags in its slots; the counters are all there is, and they agree.
    if (!isFramed(protocol)) continue;
    someSeedFails<AllRules>("the epoch belongs to the memory", 200, mistaken(plan, &HostMistakes::reusesCountersAnew));
  }
}

TEST_CASE("a connector changes its owner after all ranks have left") {
  everySeedHolds(400, earlyLeaver);
  someSeedFails<AllRules>("all ranks have left", 400, mistaken(earlyLeaver, &HostMistakes::lendsConnectorsEarly));
}

TEST_CASE("a collective is unregistered after its runs") {
  everySeedHolds(400, hasty);
  someSeedFails<AllRules>("no runs in flight", 400, mistaken(hasty, &HostMistakes::unregistersInUse));
}

TEST_CASE("connectors run through the wrap of their flags") {
  for (const uint64_t wrap : {uint64_t{1} << 30, uint64_t{1} << 31, uint64_t{1} << 32, uint64_t{1} << 33}) {
    for (const Protocol protocol : everyProtocol()) {
      everySeedHolds(40, [wrap, protocol](Random& random) {
        Plan plan = successors(random, protocol);
        plan.shape.firstPosition = wrap - 1 - random.below(12);
        return plan;
      });
    }
  }
}

TEST_CASE("slots that a new owner finds empty hold nothing at any position") {
  Arena arena(1 << 20);
  ConnectorPool pool(arena);
  const Connector c = pool.lease(3, 128);
  for (const uint64_t wrap : {uint64_t{0}, uint64_t{1} << 31, uint64_t{1} << 32, uint64_t{1} << 40}) {
    for (uint64_t position = wrap < 8 ? 0 : wrap - 8; position < wrap + 8; ++position) {
      CAPTURE(position);
      for (const Protocol protocol : everyProtocol()) {
        if (!isFramed(protocol)) continue;
        withFraming(protocol, [&](auto framing) {
          CHECK_FALSE(hasSlotArrived<decltype(framing)>(c.slotAt(position), 40, position));
          CHECK_FALSE(hasSlotArrived<decltype(framing)>(c.slotAt(position), 0, position));
        });
      }
    }
  }
}

TEST_CASE("no flag lives until its value comes round again") {
  const uint8_t payload[32] = {};
  for (const bool fills : {true, false}) {
    for (const uint64_t first : {uint64_t{0}, uint64_t{5}, uint64_t{123'456'789}, (uint64_t{1} << 31) + 7}) {
      uint64_t again = first + (uint64_t{1} << 30);
      while (Ll::flagOf(again) != Ll::flagOf(first)) again += uint64_t{1} << 30;
      alignas(64) uint8_t slot[64] = {};
      packSlot<Ll>(slot, payload, sizeof payload, first);
      // Of the short messages in between, only those that fill the slot touch what the long one left at its end.
      for (uint64_t at = (first >> 30 << 30) + (uint64_t{1} << 30); at < again; at += uint64_t{1} << 30) {
        if (!isFillDue(at, 1)) continue;
        const uint64_t lines = packSlot<Ll>(slot, payload, 4, at);
        if (fills) fillSlot<Ll>(slot, lines, sizeof slot, at);
      }
      const bool looksNew = hasSlotArrived<Ll>(slot + 8, sizeof payload - 8, again);
      CHECK(looksNew == !fills);
    }
  }
}
