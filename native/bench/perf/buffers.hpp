#pragma once
// Memory of one rank. Iterations walk through it, so that a run of small collectives doesn't measure the cache.
#include <algorithm>
#include <memory>

#include "perf/memory.hpp"

namespace dfccl::bench {

class Buffer {
 public:
  /// A page more than asked for: room for buffers that begin one element late.
  Buffer(Memory& memory, uint32_t rank, size_t bytes)
      : memory_(memory.allocate(rank, bytes + kPage), Free{&memory, rank}), bytes_(bytes) {}
  char* at(size_t offset) const { return memory_.get() + offset; }
  size_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kPage = 4096;
  struct Free {
    void operator()(char* p) const { memory->free(rank, p); }
    Memory* memory;
    uint32_t rank;
  };
  std::unique_ptr<char, Free> memory_;
  size_t bytes_;
};

struct Pair {
  const void* send;
  void* recv;
};

/// The buffers of a rank for one of the collectives that run at the same time.
class RankBuffers {
 public:
  /// @param sendBytes, recvBytes of the largest case.
  RankBuffers(Memory& memory, uint32_t rank, size_t sendBytes, size_t recvBytes)
      : send_(memory, rank, lines(sendBytes)), recv_(memory, rank, lines(std::max(sendBytes, recvBytes))) {}

  /// Lays a case out in them. In place both of its buffers lie in the receive buffer.
  void layOut(const Case& shape, uint32_t rank, bool inPlace, size_t misalignment) {
    const size_t element = shape.elementBytes();
    const size_t sendBytes = shape.sendElements() * element, recvBytes = shape.recvElements() * element;
    if (inPlace) {
      stride_ = {lines(std::max(sendBytes, recvBytes)), lines(std::max(sendBytes, recvBytes))};
      first_ = {recv_.at(misalignment + shape.sendOffset(rank) * element),
                recv_.at(misalignment + shape.recvOffset(rank) * element)};
      slots_ = recv_.bytes() / stride_.recv;
    } else {
      stride_ = {lines(sendBytes), lines(recvBytes)};
      first_ = {send_.at(misalignment), recv_.at(misalignment)};
      slots_ = std::min(send_.bytes() / stride_.send, recv_.bytes() / stride_.recv);
    }
    rewind();
  }

  /// What the next iteration is given.
  Pair next() {
    const Pair pair = next_;
    if (++slot_ < slots_) {
      next_ = {static_cast<const char*>(next_.send) + stride_.send, static_cast<char*>(next_.recv) + stride_.recv};
    } else {
      rewind();
    }
    return pair;
  }
  void rewind() {
    next_ = first_;
    slot_ = 0;
  }
  /// What the first iteration after rewind() was given.
  Pair first() const { return first_; }

 private:
  struct Stride {
    size_t send, recv;
  };
  /// Whole lines of memory, so that neighbours share none; two, because they are fetched in pairs.
  static size_t lines(size_t bytes) { return (std::max<size_t>(bytes, 1) + 127) / 128 * 128; }

  Buffer send_, recv_;
  Stride stride_{};
  Pair first_{}, next_{};
  size_t slots_ = 1, slot_ = 0;
};

}  // namespace dfccl::bench
