#pragma once
// Which handle a rank has given to an id. One thread at a time changes it; any number read, without a lock.
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/atomics.hpp"

namespace dfccl::c_api {

/// Open addressing with linear probing, at most half full, never grown. A word holds id + 1 above and the index below,
/// so a reader takes both at once.
class IdTable {
 public:
  explicit IdTable(uint32_t most) : slots_(std::bit_ceil(most) * size_t{2}), mask_(slots_.size() - 1) {}

  std::optional<uint32_t> find(uint32_t id) const {
    for (;;) {
      const uint32_t before = changes_.load(order::acquire);
      for (size_t at = home(id);; at = next(at)) {
        const uint64_t word = slots_[at].load(order::acquire);
        if (word == 0) break;
        if (idOf(word) == id) return static_cast<uint32_t>(word);
      }
      // A removal moves entries towards their homes, perhaps past a reader; it copies before it clears, so a hit is
      // always right and only a miss is looked at again.
      if ((before & 1) == 0 && changes_.load(order::acquire) == before) return std::nullopt;
    }
  }

  /// @pre `id` is not there, and fewer than `most` are.
  void insert(uint32_t id, uint32_t index) {
    size_t at = home(id);
    while (slots_[at].load(order::relaxed) != 0) at = next(at);
    slots_[at].store((uint64_t{id} + 1) << 32 | index, order::release);
  }

  /// @pre `id` is there.
  void remove(uint32_t id) {
    changes_.fetchAdd(1, order::acqRel);
    size_t hole = home(id);
    while (idOf(slots_[hole].load(order::relaxed)) != id) hole = next(hole);
    for (size_t at = next(hole);; at = next(at)) {
      const uint64_t word = slots_[at].load(order::relaxed);
      if (word == 0) break;
      // It may move back unless that is before its home.
      if (((at - home(idOf(word))) & mask_) < ((at - hole) & mask_)) continue;
      slots_[hole].store(word, order::release);
      hole = at;
    }
    slots_[hole].store(0, order::release);
    changes_.fetchAdd(1, order::acqRel);
  }

  template <class Visit>
  void forEach(Visit&& visit) const {
    for (const Atomic<uint64_t>& slot : slots_) {
      const uint64_t word = slot.load(order::relaxed);
      if (word != 0) visit(idOf(word), static_cast<uint32_t>(word));
    }
  }

 private:
  static uint32_t idOf(uint64_t word) { return static_cast<uint32_t>((word >> 32) - 1); }
  size_t home(uint32_t id) const { return (id * uint64_t{0x9e3779b97f4a7c15} >> 32) & mask_; }
  size_t next(size_t at) const { return (at + 1) & mask_; }

  std::vector<Atomic<uint64_t>> slots_;
  size_t mask_;
  Atomic<uint32_t> changes_;  // odd while a removal is under way
};

}  // namespace dfccl::c_api
