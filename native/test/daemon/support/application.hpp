#pragma once
// The application's threads, which do what the plan says, one action at a time; and its streams.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "app_runs.hpp"
#include "exploration.hpp"

namespace dfccl::test {

template <class World>
class Application {
 public:
  explicit Application(Exploration<World>& e) : e_(e), runs_(e), waits_(e.plan.shape.ranks) {
    for (const AppThread& thread : e.plan.threads) threads_.push_back({&thread});
  }

  /// One of the threads, or a stream, goes on if it can.
  void actSome() {
    ThreadState& t = threads_[e_.random.below(static_cast<uint32_t>(threads_.size()))];
    const uint32_t rank = t.thread->rank;
    const uint32_t awaiting = runs_.countAwaitingStream(rank);
    if (e_.plan.streamsArrive && awaiting != 0 && e_.random.oneIn(3))
      return runs_.arrive(rank, e_.random.below(awaiting));
    if (t.mustLook) {
      t.mustLook = false;
      e_.world.lookForDaemon(rank);
      return;
    }
    if (t.next == t.thread->actions.size()) return;
    const Action& action = t.thread->actions[t.next];
    if (!act(t, rank, action)) return;
    if (action.kind != Action::keepSubmitting) e_.report.note(nameOf(action.kind), rank, action.collective);
    ++t.next;
    e_.report.noteProgress();
  }

  /// Looks for one completion of a rank.
  void poll(uint32_t rank) {
    if (const auto completion = e_.world.poll(rank)) runs_.complete(rank, *completion);
  }
  /// Streams go on whose runs are over.
  void endWaits(uint32_t rank) {
    std::erase_if(waits_[rank], [&](const auto& wait) { return e_.world.isReached(rank, wait); });
  }
  /// Whether a thread is about to free memory of the rank's device, so that no daemon may be started there.
  bool isFreeing(uint32_t rank) const {
    return std::any_of(threads_.begin(), threads_.end(), [&](const ThreadState& t) {
      return t.isFreeing && e_.world.deviceOf(t.thread->rank) == e_.world.deviceOf(rank);
    });
  }

  bool isOver() const {
    for (const ThreadState& t : threads_) {
      if (!hasEnded(t) || t.mustLook) return false;
    }
    for (uint32_t r = 0; r < e_.world.size(); ++r) {
      if (runs_.countInFlight(r) != 0) return false;
    }
    return true;
  }

 private:
  struct ThreadState {
    const AppThread* thread;
    size_t next = 0;
    bool isSynchronizing = false;
    uint64_t stay = 0;
    std::optional<typename World::Wait> wait = std::nullopt;  // what a stream is about to wait for
    bool isFreeing = false;
    bool mustLook = false;  // has published, and not yet looked whether the daemon is there
  };
  static bool hasEnded(const ThreadState& t) { return t.next == t.thread->actions.size(); }

  /// @return whether the action is done; else it is tried again.
  bool act(ThreadState& t, uint32_t rank, const Action& action) {
    const uint32_t c = action.collective;
    switch (action.kind) {
      case Action::enroll:
        runs_.enroll(rank, c);
        return true;
      case Action::awaitRegistered:
        return e_.world.isComplete(rank, runs_.indexOf(rank, c));
      case Action::submit:
        return submit(t, rank, c);
      case Action::submitBehind:
        return submit(t, rank, c, kSqeBehindStream);
      case Action::arrive:
        runs_.arrive(rank, 0);
        return true;
      case Action::synchronize:
        return synchronize(t, rank);
      case Action::await:
        return runs_.countInFlight(rank, c) == 0;
      case Action::awaitAll:
        return runs_.countInFlight(rank) == 0;
      case Action::unregister:
        if (isPoisoned(rank, c) && !e_.world.hasDropped(rank, runs_.indexOf(rank, c))) return false;
        return e_.world.unregister(rank, runs_.indexOf(rank, c));
      case Action::abort:
        e_.world.abort(rank, runs_.indexOf(rank, c));
        return true;
      case Action::awaitQuarantine:
        if (runs_.countInFlight(rank, c) != 0) return false;
        if (isPoisoned(rank, c) && !e_.world.isQuarantineOver(rank, runs_.indexOf(rank, c))) return false;
        runs_.endQuarantine(rank, c);
        return true;
      case Action::letStreamWait:
        return letStreamWait(t, rank, c);
      case Action::freeMemory:
        t.isFreeing = true;
        if (!isIdle(rank)) return false;
        t.isFreeing = false;
        return true;
      case Action::keepSubmitting:
        if (hasEnded(threads_[c])) return true;
        if (submit(t, rank, 0)) e_.report.noteProgress();
        return false;
    }
    return true;
  }

  bool submit(ThreadState& t, uint32_t rank, uint32_t c, uint32_t flags = 0) {
    const bool isSubmitted = runs_.submit(rank, c, flags);
    t.mustLook |= isSubmitted;
    return isSubmitted;
  }

  bool synchronize(ThreadState& t, uint32_t rank) {
    if (!t.isSynchronizing) {
      t.stay = e_.world.residentStay(rank);
      t.isSynchronizing = t.stay != 0;
    } else {
      t.isSynchronizing = !e_.world.isStayOver(rank, t.stay);
    }
    return !t.isSynchronizing;
  }

  bool letStreamWait(ThreadState& t, uint32_t rank, uint32_t c) {
    if (!runs_.isEnrolled(rank, c)) return false;
    const bool startsLate = e_.plan.shape.mistakes.startsWhileItKeeps;
    // What has to be started is started before it is counted: the start may have to wait until daemons left.
    if ((!t.wait || startsLate) && !isFreeing(rank)) e_.world.startBesideWait(rank);
    if (!t.wait) {
      t.wait = e_.world.beginWait(rank, runs_.indexOf(rank, c));
      return false;
    }
    if (const auto daemons = e_.world.daemonsOf(rank); daemons != World::Daemons::inside) {
      if (daemons == World::Daemons::out && !startsLate) {
        e_.world.retractWait(rank);
        t.wait.reset();
      }
      return false;
    }
    e_.world.giveWait(rank, *t.wait);
    waits_[rank].push_back(*t.wait);
    t.wait.reset();
    return true;
  }

  bool isPoisoned(uint32_t rank, uint32_t c) const { return e_.world.isPoisoned(rank, runs_.indexOf(rank, c)); }

  /// Whether the rank's device has nothing to do: no daemon is there, and no stream waits.
  bool isIdle(uint32_t rank) const {
    for (uint32_t r = 0; r < e_.world.size(); ++r) {
      if (e_.world.deviceOf(r) != e_.world.deviceOf(rank)) continue;
      if (e_.world.isResident(r) || !waits_[r].empty()) return false;
    }
    return true;
  }

  Exploration<World>& e_;
  AppRuns<World> runs_;
  std::vector<ThreadState> threads_;
  std::vector<std::vector<typename World::Wait>> waits_;  // [rank]: of its streams
};

}  // namespace dfccl::test
