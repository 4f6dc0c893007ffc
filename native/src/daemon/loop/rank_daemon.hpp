#pragma once
// The daemon of one rank on a platform whose blocks are stepped by threads of the host: its blocks, each behind a
// try-lock, and its start. (On a GPU the grid is the blocks, and a launch is the start.)
#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/loop/block_daemon.hpp"
#include "daemon/loop/leader.hpp"
#include "daemon/loop/try_lock.hpp"

namespace dfccl {

template <class P>
class RankDaemon {
 public:
  using Rules = typename P::Rules;

  explicit RankDaemon(RankMemory& memory) : m_(memory), leader_(memory) {
    for (uint32_t i = 0; i < memory.limits.grid; ++i) blocks_.push_back(std::make_unique<Block>(memory, i));
  }

  /// Starts the daemon if there is work and nobody else is starting it, then steps every block that is free.
  /// @return whether anything moved.
  bool step(P& platform) {
    if (!m_.residency.isResident() && !tryStart(platform)) return false;
    bool any = stepBlock(platform, 0);
    for (uint32_t i = 1; i < blocks_.size(); ++i) any |= stepBlock(platform, i);
    return any;
  }

  /// Starts the daemon if it is out, there is work, and nobody else is starting it.
  /// @param isWanted also where there is nothing to do.
  bool tryStart(P& platform, bool isWanted = false) {
    if ((!isWanted && !needsStart()) || !startLock_.tryLock()) return false;
    const bool starts = !m_.residency.isResident() && m_.residency.exited.load(order::relaxed) == 0;
    if (starts) {
      lockBlocks();
      for (auto& block : blocks_) block->daemon.enter();
      leader_.enter(platform.now());
      m_.residency.launches.fetchAdd(1, order::relaxed);
      m_.counters.launches.add(1);
      if (!Rules::secondLookAfterExit) m_.submissions.header->needStart.store(0, order::relaxed);
      m_.residency.enter();
      unlockBlocks();
    }
    startLock_.unlock();
    return starts;
  }

  bool stepBlock(P& platform, uint32_t index) {
    Block& block = *blocks_[index];
    if (!block.lock.tryLock()) return false;
    bool any = false;
    if (block.daemon.isInside()) {
      const bool wasEmpty = block.daemon.queueLength() == 0;
      bool fetched = false;
      if (index == 0) fetched = leader_.fetch(platform, block.daemon);
      // What has just come in can hardly go on before the peers have taken it in too: whoever steps several ranks gets
      // there sooner without a first look.
      const bool isTooEarly = fetched && wasEmpty && !block.daemon.hasReady();
      const bool progressed = isTooEarly ? false : block.daemon.step(platform);
      if (index == 0) leader_.decide(platform, block.daemon, fetched, progressed);
      // Control: a block decides for itself, by what it alone sees.
      if (!Rules::quitAsAWhole && index != 0 && block.daemon.isInside() && block.daemon.isAllStuck()) {
        block.daemon.leaveAlone(platform);
      }
      any = fetched || progressed;
    }
    block.lock.unlock();
    return any;
  }

  /// New entries, or fewer completions than submissions: the events that start a daemon.
  bool needsStart() const {
    if (m_.residency.exited.load(order::relaxed)) return false;
    // Control: only a submitter that saw the daemon out asks for a start.
    const bool isAsked =
        Rules::secondLookAfterExit ? leader_.hasWork() : m_.submissions.header->needStart.load(order::acquire) != 0;
    return isAsked || m_.counters.completionsPosted.value.load(order::relaxed) !=
                          m_.counters.submissionsTaken.value.load(order::relaxed);
  }

  /// Keeps everybody from stepping, for a consistent look at the queues. Short: nobody waits for these locks in a step.
  void lockBlocks() {
    for (auto& block : blocks_) {
      while (!block->lock.tryLock()) {
      }
    }
  }
  void unlockBlocks() {
    for (auto& block : blocks_) block->lock.unlock();
  }

  /// For diagnosis and for tests; the caller makes sure that nobody steps.
  BlockDaemon<P>& block(uint32_t index) { return blocks_[index]->daemon; }
  Leader<P>& leader() { return leader_; }

 private:
  struct Block {
    Block(RankMemory& memory, uint32_t index) : daemon(memory, index) {}
    TryLock lock;
    BlockDaemon<P> daemon;
  };

  RankMemory& m_;
  Leader<P> leader_;
  std::vector<std::unique_ptr<Block>> blocks_;
  TryLock startLock_;
};

}  // namespace dfccl
