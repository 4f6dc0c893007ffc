#pragma once
// Ranks of a world of processes, one bit each: in shared memory and in messages.
#include <cstdint>
#include <vector>

namespace dfccl {

inline constexpr uint32_t kMaxProcesses = 1024;

struct RankSet {
  static constexpr uint32_t kWordBits = 64;
  uint64_t words[kMaxProcesses / kWordBits];

  static RankSet of(const std::vector<uint32_t>& ranks) {
    RankSet set{};
    for (const uint32_t rank : ranks) set.add(rank);
    return set;
  }
  void add(uint32_t rank) { words[rank / kWordBits] |= uint64_t{1} << rank % kWordBits; }
  bool has(uint32_t rank) const { return (words[rank / kWordBits] >> rank % kWordBits & 1) != 0; }
  /// Whether all of them are in a world of so many.
  bool isWithin(uint32_t ranks) const {
    for (uint32_t r = ranks; r < kMaxProcesses; ++r) {
      if (has(r)) return false;
    }
    return true;
  }
  /// @return ascending.
  std::vector<uint32_t> list() const {
    std::vector<uint32_t> ranks;
    for (uint32_t r = 0; r < kMaxProcesses; ++r) {
      if (has(r)) ranks.push_back(r);
    }
    return ranks;
  }

  bool operator==(const RankSet&) const = default;
};

}  // namespace dfccl
