#pragma once
// One rank of a test's world: its daemon, and the host's ends of its queues.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cpu/cpu_rank_memory.hpp"
#include "cpu/local_registration.hpp"
#include "daemon/loop/rank_daemon.hpp"
#include "pending_tables.hpp"
#include "program/program_loader.hpp"
#include "waiting_tables.hpp"
#include "world/ring_programs.hpp"
#include "world/task_table.hpp"
#include "world_shape.hpp"

namespace dfccl::test {

/// A collective that is registered here.
struct Registered {
  std::shared_ptr<LocalRegistration> registration;
  std::shared_ptr<const BoundProgram> program;
  uint32_t member = 0;
  uint64_t issued = 0;
  std::shared_ptr<const OwnedRingPlan> rings;
};

/// What a rank's host sees of the end of a run.
struct TestCompletion {
  uint32_t slot;
  uint32_t index;
  CqeStatus status;
  uint16_t run;
};

template <class Platform>
struct TestRank {
  TestRank(uint32_t rank, const WorldShape& s, DeviceWaits& device)
      : shape(s),
        memory(rank, shape.limits, shape.policy),
        pending(memory),
        waiting(memory, device, rank),
        daemon(memory),
        producer(memory.submissions, 1),
        claimer(memory.completions),
        poller(memory.completions),
        tasks(shape.limits.tasks),
        entries(shape.limits.collectives),
        issuedEver(shape.limits.collectives),
        numbers(shape.limits.completionSlots) {
    // A block that looks where it has had no run finds the wrong one, as on a GPU, and not the end of a table.
    for (BlockMemory& block : memory.blocks) {
      for (uint32_t& run : block.lastRun) run = 0;
    }
  }

  /// @param flags kSqeBehindStream: it begins after arrive(). @param ring of a run that may go through one.
  /// @return the run's completion slot, or nothing: full.
  std::optional<uint32_t> submit(uint32_t index, const void* send, void* recv, uint32_t flags = 0,
                                 uint16_t sendWindow = 0, uint16_t recvWindow = 0, const void* ring = nullptr) {
    if (producer.tryReserve(1) != Reserve::ok) return std::nullopt;
    const std::optional<uint32_t> slot = claimSlot(index);
    if (!slot) {
      producer.publish(0);
      return std::nullopt;
    }
    ++entries[index].issued;
    ++issuedEver[index];
    Sqe sqe{};
    sqe.id = index;
    sqe.flags = flags | (shape.mistakes.forgetsControl ? 0 : memory.control.flagsOfEntry());
    sqe.completionSlot = *slot;
    sqe.sendAddress = reinterpret_cast<uint64_t>(send);
    sqe.recvAddress = reinterpret_cast<uint64_t>(recv);
    sqe.sendWindow = sendWindow;
    sqe.recvWindow = recvWindow;
    sqe.count = reinterpret_cast<uint64_t>(ring);
    if ((flags & kSqeBehindStream) != 0) sqe.run = sqeRunOfLine(*slot, ++numbers[*slot]);
    producer.write(0, sqe);
    producer.publish(1);
    return slot;
  }

  /// One completion, its slot freed.
  std::optional<TestCompletion> poll() {
    for (uint32_t slot = 0; slot < shape.limits.completionSlots; ++slot) {
      Atomic<uint64_t>& word = memory.completions.slots[slot];
      const uint64_t cqe = word.load(order::acquire);
      if (cqe == 0) continue;
      word.store(0, order::relaxed);
      if (shape.mistakes.completionSlot == HostMistakes::Slot::owned) poller.free(slot);
      return TestCompletion{slot, static_cast<uint32_t>(cqe), static_cast<CqeStatus>((cqe >> 32) & 0xffff),
                            static_cast<uint16_t>(cqe >> 48)};
    }
    return std::nullopt;
  }

  const WorldShape& shape;
  CpuRankMemory memory;
  PendingTables pending;
  WaitingTables waiting;
  RankDaemon<Platform> daemon;
  EngineSubmissionProducer producer;
  CompletionOwnedSlots<>::Claimer claimer;
  CompletionOwnedSlots<>::Poller poller;
  TaskTable tasks;
  std::vector<Registered> entries;   // [index]
  std::vector<uint64_t> issuedEver;  // [index]
  std::vector<uint32_t> numbers;     // [completion slot]: of the last run on the slot's line

 private:
  std::optional<uint32_t> claimSlot(uint32_t index) {
    switch (shape.mistakes.completionSlot) {
      case HostMistakes::Slot::byCollective:
        return index;
      case HostMistakes::Slot::byPosition:
        return static_cast<uint32_t>(producer.position() % shape.limits.completionSlots);
      case HostMistakes::Slot::owned:
        break;
    }
    if (claimer.claimedCount() >= shape.limits.completionSlots) return std::nullopt;
    const uint32_t slot = claimer.tryClaim();
    return slot == kNoCompletionSlot ? std::nullopt : std::optional(slot);
  }
};

}  // namespace dfccl::test
