#pragma once
// Runs one plan under one schedule. A seeded random choice decides at every point who goes next: which block of which
// rank takes a step, which thread of the application acts, who starts a daemon, who looks for completions, how the
// clock runs. A schedule can be run again from its seed.
#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <sstream>
#include <string>

#include "expected.hpp"
#include "plan.hpp"

namespace dfccl::test {

struct Verdict {
  bool ok = true;
  std::string why;   // empty where ok
  std::string tail;  // the last events before it
  uint64_t picks = 0, completions = 0, preemptions = 0, launches = 0, contextSaves = 0;
};

template <class Rules, template <class> class PlatformOf = TestPlatform>
class Explorer {
 public:
  using World = TestWorld<Rules, PlatformOf>;

  Explorer(const Plan& plan, uint64_t seed)
      : plan_(plan), random_(seed), memory_(kUserBytes), world_(plan.shape), ranks_(plan.shape.ranks) {
    Surroundings::now = 1;
    Surroundings::stepBudgetBytes = plan.stepBudgetBytes;
    Surroundings::togetherBytes = plan.togetherBytes;
    Surroundings::violation.clear();
    Surroundings::isLeaving.clear();
    for (Side& side : ranks_) {
      side.index.assign(plan.collectives.size(), kNobody);
      side.runs.assign(plan.collectives.size(), 0);
      side.registrations.assign(plan.collectives.size(), 0);
    }
    for (const AppThread& thread : plan.threads) threads_.push_back({&thread});
  }

  World& world() { return world_; }

  Verdict run() {
    while (verdict_.ok && !isOver()) {
      if (++verdict_.picks > plan_.maxPicks) fail("not over after " + std::to_string(plan_.maxPicks) + " steps");
      if (verdict_.picks - lastEvent_ > plan_.patience) fail("no progress");
      pick();
      if (!Surroundings::violation.empty()) fail(Surroundings::violation);
    }
    for (uint32_t r = 0; r < world_.size(); ++r) {
      verdict_.launches += world_.memory(r).counters.launches.read();
      for (const BlockMemory& block : world_.memory(r).blocks) {
        verdict_.preemptions += block.counters.preemptions.read();
        verdict_.contextSaves += block.counters.contextSaves.read();
      }
    }
    if (!verdict_.ok) verdict_.tail = describeTail();
    return verdict_;
  }

 private:
  static constexpr size_t kUserBytes = size_t{1} << 20;
  static constexpr uint32_t kNobody = 0xffffffff;

  struct Run {
    uint32_t collective;
    uint64_t number;      // since registration: what the completion names
    uint64_t dataNumber;  // no two runs of an id have the same data
    uint32_t slot;
    uint8_t* send;
    uint8_t* recv;
    size_t sendBytes, recvBytes;
  };
  struct Side {
    std::vector<uint32_t> index;  // [planned collective], kNobody: not registered
    std::vector<uint64_t> runs;   // [planned collective]: submitted since registration
    std::vector<uint64_t> registrations;
    std::deque<Run> inFlight;
    std::deque<Run> quarantined;
    std::deque<Run> awaitingStream;
    std::vector<typename World::Wait> waits;  // of its streams
    uint32_t speed = 1;
  };
  struct ThreadState {
    const AppThread* thread;
    size_t next = 0;
    bool isSynchronizing = false;
    uint64_t stay = 0;
    std::optional<typename World::Wait> wait = std::nullopt;  // what a stream is about to wait for
    bool isFreeing = false;
    bool mustLook = false;  // has published, and not yet looked whether the daemon is there
  };
  struct Event {
    const char* what;
    uint32_t rank, detail;  // block, collective, or nothing
  };

  // --- the schedule ---

  void pick() {
    if (random_.oneIn(64)) {
      for (Side& side : ranks_) side.speed = random_.among({0u, 1u, 1u, 4u, 16u});
    }
    Surroundings::now += 1;
    const uint32_t dice = random_.below(100);
    if (dice < 62) {
      stepSome();
    } else if (dice < 80) {
      actSome();
    } else if (dice < 90) {
      const uint32_t r = random_.below(world_.size());
      if (!isFreeing(r) && world_.tryStart(r)) note("start", r);
    } else if (dice < 98) {
      pollSome();
    } else {
      Surroundings::now += random_.below(random_.oneIn(4) ? 5000 : 50);
    }
  }

  void stepSome() {
    if (random_.oneIn(16)) endWaits(random_.below(world_.size()));
    uint32_t total = 0;
    for (const Side& side : ranks_) total += side.speed;
    uint32_t r = random_.below(world_.size());
    if (total != 0) {
      uint32_t at = random_.below(total);
      for (r = 0; at >= ranks_[r].speed; ++r) at -= ranks_[r].speed;
    }
    const uint32_t block = random_.below(plan_.shape.limits.grid);
    // Now and then the thread that has a block loses its processor for long.
    if (verdict_.picks >= heldUntil_ && random_.oneIn(256)) {
      heldUntil_ = verdict_.picks + random_.below(4000);
      heldRank_ = r;
      heldBlock_ = block;
    }
    if (verdict_.picks < heldUntil_ && r == heldRank_ && block == heldBlock_) return;
    const bool wasThere = world_.isResident(r);
    if (world_.stepBlock(r, block)) note("step", r, block);
    if (wasThere && !world_.isResident(r)) note("left", r);
  }

  void pollSome() {
    const uint32_t r = random_.below(world_.size());
    const auto completion = world_.poll(r);
    if (completion) complete(r, *completion);
  }

  // --- the application ---

  void actSome() {
    ThreadState& t = threads_[random_.below(static_cast<uint32_t>(threads_.size()))];
    const uint32_t rank = t.thread->rank;
    const auto awaiting = static_cast<uint32_t>(ranks_[rank].awaitingStream.size());
    if (plan_.streamsArrive && awaiting != 0 && random_.oneIn(3)) return arrive(rank, random_.below(awaiting));
    if (t.mustLook) {
      t.mustLook = false;
      world_.lookForDaemon(rank);
      return;
    }
    if (t.next == t.thread->actions.size()) return;
    const Action& action = t.thread->actions[t.next];
    if (!act(t, rank, action)) return;
    if (action.kind != Action::keepSubmitting) note(nameOf(action.kind), rank, action.collective);
    ++t.next;
    lastEvent_ = verdict_.picks;
  }

  /// @return whether the action is done; else it is tried again.
  bool act(ThreadState& t, uint32_t rank, const Action& action) {
    Side& side = ranks_[rank];
    const uint32_t c = action.collective;
    switch (action.kind) {
      case Action::enroll: {
        const PlannedCollective& planned = plan_.collectives[c];
        CollectiveSpec spec = planned.spec;
        spec.scale = scaleOf(memberOf(spec, rank));
        side.index[c] = world_.registerCollective(
            rank, spec, planned.program ? planned.program(memberOf(spec, rank)) : std::vector<uint8_t>{});
        side.runs[c] = 0;
        ++side.registrations[c];
        return true;
      }
      case Action::awaitRegistered:
        return world_.isComplete(rank, side.index[c]);
      case Action::submit:
        return submit(t, rank, c);
      case Action::submitBehind:
        return submit(t, rank, c, kSqeBehindStream);
      case Action::arrive:
        arrive(rank, 0);
        return true;
      case Action::synchronize:
        if (!t.isSynchronizing) {
          t.stay = world_.residentStay(rank);
          t.isSynchronizing = t.stay != 0;
          return !t.isSynchronizing;
        }
        t.isSynchronizing = !world_.isStayOver(rank, t.stay);
        return !t.isSynchronizing;
      case Action::await:
        return countInFlight(side, c) == 0;
      case Action::awaitAll:
        return side.inFlight.empty();
      case Action::unregister:
        if (world_.isPoisoned(rank, side.index[c]) && !world_.hasDropped(rank, side.index[c])) return false;
        return world_.unregister(rank, side.index[c]);
      case Action::abort:
        world_.abort(rank, side.index[c]);
        return true;
      case Action::awaitQuarantine:
        if (countInFlight(side, c) != 0) return false;
        if (world_.isPoisoned(rank, side.index[c]) && !world_.isQuarantineOver(rank, side.index[c])) return false;
        for (const Run& run : side.quarantined) {
          if (run.collective == c) takeBack(run);
        }
        std::erase_if(side.quarantined, [c](const Run& run) { return run.collective == c; });
        return true;
      case Action::letStreamWait:
        if (side.index[c] == kNobody) return false;
        // What has to be started is started before it is counted: the start may have to wait until daemons left.
        if (!t.wait || plan_.shape.mistakes.startsWhileItKeeps) {
          if (!isFreeing(rank)) world_.startBesideWait(rank);
        }
        if (!t.wait) {
          t.wait = world_.beginWait(rank, side.index[c]);
          return false;
        }
        if (const auto daemons = world_.daemonsOf(rank); daemons != World::Daemons::inside) {
          if (daemons == World::Daemons::out && !plan_.shape.mistakes.startsWhileItKeeps) {
            world_.retractWait(rank);
            t.wait.reset();
          }
          return false;
        }
        world_.giveWait(rank, *t.wait);
        side.waits.push_back(*t.wait);
        t.wait.reset();
        return true;
      case Action::freeMemory:
        t.isFreeing = true;
        if (!isIdle(rank)) return false;
        t.isFreeing = false;
        return true;
      case Action::keepSubmitting:
        if (threads_[c].next == threads_[c].thread->actions.size()) return true;
        if (submit(t, rank, 0)) lastEvent_ = verdict_.picks;
        return false;
    }
    return true;
  }

  bool isFreeing(uint32_t rank) const {
    return std::any_of(threads_.begin(), threads_.end(), [&](const ThreadState& t) {
      return t.isFreeing && world_.deviceOf(t.thread->rank) == world_.deviceOf(rank);
    });
  }
  /// Whether the rank's device has nothing to do: no daemon is there, and no stream waits.
  bool isIdle(uint32_t rank) const {
    for (uint32_t r = 0; r < world_.size(); ++r) {
      if (world_.deviceOf(r) != world_.deviceOf(rank)) continue;
      if (world_.isResident(r) || !ranks_[r].waits.empty()) return false;
    }
    return true;
  }
  /// Streams go on whose runs are over.
  void endWaits(uint32_t rank) {
    std::erase_if(ranks_[rank].waits, [&](const auto& wait) { return world_.isReached(rank, wait); });
  }

  bool submit(ThreadState& t, uint32_t rank, uint32_t c, uint32_t flags = 0) {
    Side& side = ranks_[rank];
    if (side.index[c] == kNobody) return false;  // another thread of the process is about to register it
    const PlannedCollective& planned = plan_.collectives[c];
    const CollectiveSpec& spec = planned.spec;
    const uint32_t member = memberOf(spec, rank);
    const BufferSizes sizes = bufferSizes(spec, member);
    const size_t element = sizeOf(spec.type);
    Run run{c,
            side.runs[c],
            side.registrations[c] * 64 + side.runs[c],
            0,
            nullptr,
            nullptr,
            sizes.send * element,
            sizes.recv * element};
    run.recv = memory_.allocate(std::max(run.recvBytes, run.sendBytes));
    run.send = planned.isInPlace ? run.recv + inPlaceOffset(spec, member) : memory_.allocate(run.sendBytes);
    if (run.recv == nullptr || run.send == nullptr) {
      fail("the test has no memory left for buffers");
      return false;
    }
    if (flags == 0) fillAndLend(rank, run);
    const std::optional<uint32_t> slot = world_.submit(rank, side.index[c], run.send, run.recv, flags);
    if (!slot) {
      takeBack(run);
      return false;
    }
    run.slot = *slot;
    ++side.runs[c];
    side.inFlight.push_back(run);
    if (flags != 0) side.awaitingStream.push_back(run);
    t.mustLook = true;
    return true;
  }

  void fillAndLend(uint32_t rank, const Run& run) {
    const CollectiveSpec& spec = plan_.collectives[run.collective].spec;
    const size_t element = sizeOf(spec.type);
    UserMemory::scribble(run.recv, run.recvBytes, random_);
    for (uint64_t i = 0; i * element < run.sendBytes; ++i) {
      storeElement(spec.type, run.send + i * element, contribution(spec, memberOf(spec, rank), run.dataNumber, i));
    }
    memory_.lend(run.send, run.sendBytes);
    memory_.lend(run.recv, run.recvBytes);
  }

  /// A stream comes to a run that waits for it. Until now the buffers were the stream's.
  void arrive(uint32_t rank, uint32_t which) {
    std::deque<Run>& awaiting = ranks_[rank].awaitingStream;
    const Run run = awaiting[which];
    awaiting.erase(awaiting.begin() + which);
    fillAndLend(rank, run);
    world_.arrive(rank, run.slot);
    note("arrive", rank, run.collective);
    lastEvent_ = verdict_.picks;
  }

  void complete(uint32_t rank, const typename World::Completion& completion) {
    Side& side = ranks_[rank];
    lastEvent_ = verdict_.picks;
    ++verdict_.completions;
    // The slot decides: an index whose collective was unregistered may name another by now, with a run of this number.
    const auto find = [&](bool bySlot) {
      size_t i = 0;
      while (i < side.inFlight.size() && (side.index[side.inFlight[i].collective] != completion.index ||
                                          (side.inFlight[i].number & 0xffff) != completion.run ||
                                          (bySlot && side.inFlight[i].slot != completion.slot))) {
        ++i;
      }
      return i;
    };
    size_t at = find(true);
    if (at == side.inFlight.size()) at = find(false);
    note(completion.status == CqeStatus::completed ? "completion" : "aborted", rank, completion.index);
    if (at == side.inFlight.size()) return fail("a completion of a run that isn't in flight");
    const Run run = side.inFlight[at];
    side.inFlight.erase(side.inFlight.begin() + static_cast<ptrdiff_t>(at));
    if (run.slot != completion.slot) return fail("a completion in another run's slot");
    if (completion.status == CqeStatus::completed) {
      check(rank, run);
      takeBack(run);
    } else if (!world_.isPoisoned(rank, completion.index)) {
      fail("aborted, and nobody asked for it");
    } else if (plan_.quarantineEndsAtAbort) {
      takeBack(run);
    } else {
      side.quarantined.push_back(run);
    }
  }

  void check(uint32_t rank, const Run& run) {
    const CollectiveSpec& spec = plan_.collectives[run.collective].spec;
    const uint32_t member = memberOf(spec, rank);
    const size_t element = sizeOf(spec.type);
    for (uint64_t i = 0; i < run.recvBytes / element; ++i) {
      if (isElement(spec.type, run.recv + i * element, expected(spec, member, run.dataNumber, i))) continue;
      return fail("wrong data: rank " + std::to_string(rank) + ", collective " + spec.id.text() + ", run " +
                  std::to_string(run.number) + ", element " + std::to_string(i));
    }
  }

  /// The application overwrites its buffers as soon as they are its own again.
  void takeBack(const Run& run) {
    memory_.takeBack(run.send, run.sendBytes, random_);
    memory_.takeBack(run.recv, run.recvBytes, random_);
  }

  bool isOver() const {
    for (const ThreadState& t : threads_) {
      if (t.next != t.thread->actions.size() || t.mustLook) return false;
    }
    for (const Side& side : ranks_) {
      if (!side.inFlight.empty()) return false;
    }
    return true;
  }

  static uint32_t memberOf(const CollectiveSpec& spec, uint32_t rank) {
    uint32_t member = 0;
    while (spec.ranks[member] != rank) ++member;
    return member;
  }
  static size_t inPlaceOffset(const CollectiveSpec& spec, uint32_t member) {
    return spec.collective == Collective::allGather ? member * spec.count * sizeOf(spec.type) : 0;
  }
  static size_t countInFlight(const Side& side, uint32_t c) {
    size_t count = 0;
    for (const Run& run : side.inFlight) count += run.collective == c;
    return count;
  }

  // --- the report ---

  void note(const char* what, uint32_t rank, uint32_t detail = kNobody) {
    events_[eventCount_++ % events_.size()] = {what, rank, detail};
  }
  void fail(const std::string& why) {
    if (!verdict_.ok) return;
    verdict_.ok = false;
    verdict_.why = why;
  }
  std::string describeTail() const {
    std::ostringstream out;
    const size_t first = eventCount_ > events_.size() ? eventCount_ - events_.size() : 0;
    for (size_t i = first; i < eventCount_; ++i) {
      const Event& e = events_[i % events_.size()];
      out << (i == first ? " " : ", ") << e.what << " r" << e.rank;
      if (e.detail != kNobody) out << '.' << e.detail;
    }
    return out.str();
  }

  const Plan& plan_;
  Random random_;
  UserMemory memory_;
  MemoryWatch watch_{memory_};
  World world_;
  std::vector<Side> ranks_;
  std::vector<ThreadState> threads_;
  Verdict verdict_;
  uint64_t lastEvent_ = 0;
  uint64_t heldUntil_ = 0;
  uint32_t heldRank_ = 0, heldBlock_ = 0;
  std::array<Event, 10> events_{};
  size_t eventCount_ = 0;
};

template <class Rules, template <class> class PlatformOf = TestPlatform>
Verdict explore(const Plan& plan, uint64_t seed) {
  return Explorer<Rules, PlatformOf>(plan, seed).run();
}

// All tests run this one: it is compiled once, in explore_all_rules.cpp, instead of in each of them.
extern template Verdict explore<AllRules>(const Plan& plan, uint64_t seed);

}  // namespace dfccl::test
