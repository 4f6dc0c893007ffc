#pragma once
// Two processes of a job that tell one another of memory, with drivers of the test's in place of CUDA's.
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "daemon/state/windows.hpp"
#include "processes/own_windows.hpp"
#include "processes/peer_windows.hpp"
#include "processes/rendezvous.hpp"
#include "processes/support/processes.hpp"
#include "processes/support/shared_board.hpp"
#include "processes/support/shared_count.hpp"

namespace dfccl::test {

inline constexpr uint64_t kGiB = uint64_t{1} << 30;

inline std::shared_ptr<Segment> meetAs(const std::string& job, uint32_t rank, uint32_t ranks) {
  RendezvousOptions options;
  options.job = job;
  options.rank = rank;
  options.timeoutMillis = 20'000;
  options.shape = {"1.0", ranks, 1, 64, 128, 32 << 10, 64 << 10, size_t{1} << 28, 1};
  return meet(options);
}

/// An address space in which the test allocates. Identities only grow.
struct FakeMemory {
  std::map<uint64_t, OwnMemory> allocations;
  uint64_t identities = 0;
  mutable uint64_t questions = 0;  // whether an allocation is still the same
  bool isPool = false;

  void allocate(uint64_t first, uint64_t bytes) { allocations[first] = {first, bytes, ++identities}; }
  void free(uint64_t first) { allocations.erase(first); }
  OwnMemory at(uint64_t address) const {
    auto found = allocations.upper_bound(address);
    if (found == allocations.begin()) return {};
    --found;
    return address - found->first < found->second.bytes ? found->second : OwnMemory{};
  }
  ExportingDriver driver() {
    return {[this](uint64_t address) { return at(address); },
            [this](uint64_t address) {
              ++questions;
              return at(address).identity;
            },
            [this](const OwnMemory& memory, uint8_t(&handle)[WindowNote::kHandleBytes]) {
              if (isPool) throw Error(dfcclInvalidArgument, "A pool's.", "Use another.");
              std::memcpy(handle, &memory.identity, sizeof memory.identity);
            }};
  }
};

/// What a process sees of another's memory: every allocation at a place that its identity gives.
struct FakeView {
  std::vector<Atomic<uint64_t>> table = std::vector<Atomic<uint64_t>>(windows::kCount);
  std::map<uint64_t, uint64_t> mapped;  // identity, by where
  bool fails = false;
  bool mustWait = false;    // with unmapping
  bool isOneBlock = false;  // all memory is of one of the driver's blocks, at overlapping places

  static uint64_t placeOf(uint64_t identity) { return 0x1000'0000'0000 + identity * 0x10'0000'0000; }
  ImportingDriver driver() {
    return {[this](uint32_t, const WindowNote& note) -> std::optional<uint64_t> {
              if (fails) throw Error(dfcclSystemError, "It can't be mapped.", "Ask why.");
              uint64_t identity = 0;
              std::memcpy(&identity, note.handle, sizeof identity);
              if (isOneBlock && !mapped.empty()) return std::nullopt;
              mapped[placeOf(identity)] = identity;
              return placeOf(identity);
            },
            [this](uint32_t, uint64_t seenAt, bool isEnd) {
              if (mustWait && !isEnd) return false;
              mapped.erase(seenAt);
              return true;
            },
            [this](uint32_t, uint16_t window, const std::vector<uint64_t>& bases) {
              for (size_t i = 0; i < bases.size(); ++i) table[window + i].store(bases[i], order::release);
            }};
  }
};

/// What a test's rank 0 names for its rank 1, and whose turn it is: they take turns, and sleep until theirs comes.
struct Board {
  uint64_t names[8];
  uint64_t identities[8];
  SharedCount turn;
  SharedCount peerEnded;

  void reach(uint32_t number) { turn.add(number - turn.read()); }  // only one of them is at it
  bool await(uint32_t number) { return turn.await(number); }
};

/// Two processes of a job, and the board that both see.
struct Pair {
  using Task = std::function<int(uint32_t rank, const std::shared_ptr<Segment>& segment, Board& board)>;

  explicit Pair(const Task& task)
      : processes(2, [&](uint32_t rank) { return task(rank, meetAs(job, rank, 2), *board); }) {}

  const std::string job = newJob();
  SharedBoard<Board> board;
  Processes processes;
};

}  // namespace dfccl::test
