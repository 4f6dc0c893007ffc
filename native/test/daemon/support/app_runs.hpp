#pragma once
// The application's runs: their buffers, which are filled before and checked after, and what became of each.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "expected.hpp"
#include "exploration.hpp"

namespace dfccl::test {

template <class World>
class AppRuns {
 public:
  explicit AppRuns(Exploration<World>& e) : e_(e), sides_(e.plan.shape.ranks) {
    for (Side& side : sides_) {
      side.index.assign(e.plan.collectives.size(), kNobody);
      side.runs.assign(e.plan.collectives.size(), 0);
      side.registrations.assign(e.plan.collectives.size(), 0);
    }
  }

  /// Registers a planned collective on a rank.
  void enroll(uint32_t rank, uint32_t c) {
    Side& side = sides_[rank];
    const PlannedCollective& planned = e_.plan.collectives[c];
    CollectiveSpec spec = planned.spec;
    spec.scale = scaleOf(memberOf(spec, rank));
    side.index[c] = e_.world.registerCollective(
        rank, spec, planned.program ? planned.program(memberOf(spec, rank)) : std::vector<uint8_t>{},
        planned.rings ? &*planned.rings : nullptr);
    side.runs[c] = 0;
    ++side.registrations[c];
  }
  bool isEnrolled(uint32_t rank, uint32_t c) const { return sides_[rank].index[c] != kNobody; }
  uint32_t indexOf(uint32_t rank, uint32_t c) const { return sides_[rank].index[c]; }

  /// @return false: it couldn't be submitted now.
  bool submit(uint32_t rank, uint32_t c, uint32_t flags = 0) {
    if (!isEnrolled(rank, c)) return false;  // another thread of the process is about to register it
    Side& side = sides_[rank];
    const PlannedCollective& planned = e_.plan.collectives[c];
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
    run.recv = e_.memory.allocate(std::max(run.recvBytes, run.sendBytes));
    run.send = planned.isInPlace ? run.recv + inPlaceOffset(spec, member) : e_.memory.allocate(run.sendBytes);
    if (run.recv == nullptr || run.send == nullptr) {
      e_.report.fail("the test has no memory left for buffers");
      return false;
    }
    const OwnedRingPlan* const rings = e_.world.ringsOf(rank, side.index[c]);
    const uint16_t sendWindow = rings != nullptr && run.sendBytes != 0 && e_.random.oneIn(2) ? 1 : 0;
    const uint16_t recvWindow = rings != nullptr && run.recvBytes != 0 && e_.random.oneIn(2) ? 1 : 0;
    if (sendWindow != 0 || recvWindow != 0) {
      run.ringBytes = rings->ringBytes;
      run.ring = e_.memory.allocate(run.ringBytes);
      if (run.ring == nullptr) {
        e_.report.fail("the test has no memory left for rings");
        return false;
      }
    }
    if (flags == 0) fillAndLend(rank, run);
    if (sendWindow != 0) rings->fillBefore(run.send, run.ring);
    const std::optional<uint32_t> slot =
        e_.world.submit(rank, side.index[c], run.send, run.recv, flags, sendWindow, recvWindow, run.ring);
    if (!slot) {
      takeBack(run);
      return false;
    }
    run.slot = *slot;
    ++side.runs[c];
    side.inFlight.push_back(run);
    if (flags != 0) side.awaitingStream.push_back(run);
    return true;
  }

  uint32_t countAwaitingStream(uint32_t rank) const {
    return static_cast<uint32_t>(sides_[rank].awaitingStream.size());
  }
  /// A stream comes to a run that waits for it. Until now the buffers were the stream's.
  void arrive(uint32_t rank, uint32_t which) {
    std::deque<Run>& awaiting = sides_[rank].awaitingStream;
    const Run run = awaiting[which];
    awaiting.erase(awaiting.begin() + which);
    fillAndLend(rank, run);
    e_.world.arrive(rank, run.slot);
    e_.report.note("arrive", rank, run.collective);
    e_.report.noteProgress();
  }

  size_t countInFlight(uint32_t rank) const { return sides_[rank].inFlight.size(); }
  size_t countInFlight(uint32_t rank, uint32_t c) const {
    size_t count = 0;
    for (const Run& run : sides_[rank].inFlight) count += run.collective == c;
    return count;
  }

  void complete(uint32_t rank, const typename World::Completion& completion) {
    Side& side = sides_[rank];
    e_.report.noteProgress();
    ++e_.report.verdict.completions;
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
    e_.report.note(completion.status == CqeStatus::completed ? "completion" : "aborted", rank, completion.index);
    if (at == side.inFlight.size()) return e_.report.fail("a completion of a run that isn't in flight");
    const Run run = side.inFlight[at];
    side.inFlight.erase(side.inFlight.begin() + static_cast<ptrdiff_t>(at));
    if (run.slot != completion.slot) return e_.report.fail("a completion in another run's slot");
    if (completion.status == CqeStatus::completed) {
      check(rank, run);
      takeBack(run);
    } else if (!e_.world.isPoisoned(rank, completion.index)) {
      e_.report.fail("aborted, and nobody asked for it");
    } else if (e_.plan.quarantineEndsAtAbort) {
      takeBack(run);
    } else {
      if (e_.plan.ringsComeBackAtAbort) takeRingBack(run);
      side.quarantined.push_back(run);
    }
  }
  /// Its aborted runs' buffers are the application's again.
  void endQuarantine(uint32_t rank, uint32_t c) {
    for (const Run& run : sides_[rank].quarantined) {
      if (run.collective == c) takeBack(run);
    }
    std::erase_if(sides_[rank].quarantined, [c](const Run& run) { return run.collective == c; });
  }

 private:
  static constexpr uint32_t kNobody = 0xffffffff;

  struct Run {
    uint32_t collective;
    uint64_t number;      // since registration: what the completion names
    uint64_t dataNumber;  // no two runs of an id have the same data
    uint32_t slot;
    uint8_t* send;
    uint8_t* recv;
    size_t sendBytes, recvBytes;
    uint8_t* ring = nullptr;
    size_t ringBytes = 0;
  };
  struct Side {
    std::vector<uint32_t> index;  // [planned collective], kNobody: not registered
    std::vector<uint64_t> runs;   // [planned collective]: submitted since registration
    std::vector<uint64_t> registrations;
    std::deque<Run> inFlight;
    std::deque<Run> quarantined;
    std::deque<Run> awaitingStream;
  };

  void fillAndLend(uint32_t rank, const Run& run) {
    const CollectiveSpec& spec = e_.plan.collectives[run.collective].spec;
    const size_t element = sizeOf(spec.type);
    UserMemory::scribble(run.recv, run.recvBytes, e_.random);
    for (uint64_t i = 0; i * element < run.sendBytes; ++i) {
      storeElement(spec.type, run.send + i * element, contribution(spec, memberOf(spec, rank), run.dataNumber, i));
    }
    e_.memory.lend(run.send, run.sendBytes);
    e_.memory.lend(run.recv, run.recvBytes);
    UserMemory::scribble(run.ring, run.ringBytes, e_.random);
    if (run.ringBytes != 0) e_.memory.lend(run.ring, run.ringBytes);
  }

  void check(uint32_t rank, const Run& run) {
    const CollectiveSpec& spec = e_.plan.collectives[run.collective].spec;
    const uint32_t member = memberOf(spec, rank);
    const size_t element = sizeOf(spec.type);
    for (uint64_t i = 0; i < run.recvBytes / element; ++i) {
      if (isElement(spec.type, run.recv + i * element, expected(spec, member, run.dataNumber, i))) continue;
      return e_.report.fail("wrong data: rank " + std::to_string(rank) + ", collective " + spec.id.text() + ", run " +
                            std::to_string(run.number) + ", element " + std::to_string(i));
    }
  }

  /// The application overwrites its buffers as soon as they are its own again.
  void takeBack(const Run& run) {
    e_.memory.takeBack(run.send, run.sendBytes, e_.random);
    e_.memory.takeBack(run.recv, run.recvBytes, e_.random);
    takeRingBack(run);
  }

  void takeRingBack(const Run& run) {
    if (run.ringBytes != 0) e_.memory.takeBack(run.ring, run.ringBytes, e_.random);
  }

  static size_t inPlaceOffset(const CollectiveSpec& spec, uint32_t member) {
    return spec.collective == Collective::allGather ? member * spec.count * sizeOf(spec.type) : 0;
  }

  Exploration<World>& e_;
  std::vector<Side> sides_;
};

}  // namespace dfccl::test
