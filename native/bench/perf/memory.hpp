#pragma once
// Where the ranks' buffers lie. Test data is made and compared there, too: gigabytes of it don't cross a bus.
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "perf/shape.hpp"

namespace dfccl::bench {

/// A result of one rank.
struct Received {
  uint32_t rank;
  const void* got;
};

class Memory {
 public:
  virtual ~Memory() = default;
  /// Page-aligned, filled with plain numbers in every type: no run is slowed down by denormal ones.
  /// @throws std::bad_alloc
  virtual char* allocate(uint32_t rank, size_t bytes) = 0;
  virtual void free(uint32_t rank, char* memory) = 0;
  virtual void clear(uint32_t rank, void* at, size_t bytes) = 0;
  virtual void read(uint32_t rank, void* to, const void* from, size_t bytes) = 0;
  virtual void write(uint32_t rank, void* to, const void* from, size_t bytes) = 0;
  /// The first elements of what a rank gives, in its memory.
  virtual void fill(uint32_t rank, void* out, uint64_t count, const ExactData& data) = 0;
  /// Elements with any wrong bit. One thread's ranks; several threads at a time.
  virtual uint64_t countWrong(const std::vector<Received>& results, const Case& shape, const ExactData& data) = 0;

 protected:
  static constexpr int kPlain = 0x3f;
};

/// Of this process.
class HostMemory final : public Memory {
 public:
  char* allocate(uint32_t, size_t bytes) override {
    auto* memory = static_cast<char*>(std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage));
    if (memory == nullptr) throw std::bad_alloc();
    std::memset(memory, kPlain, bytes);
    return memory;
  }
  void free(uint32_t, char* memory) override { std::free(memory); }
  void clear(uint32_t, void* at, size_t bytes) override { std::memset(at, 0, bytes); }
  void read(uint32_t, void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void write(uint32_t, void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void fill(uint32_t rank, void* out, uint64_t count, const ExactData& data) override {
    data.fill(out, 0, count, rank);
  }

  uint64_t countWrong(const std::vector<Received>& results, const Case& shape, const ExactData& data) override {
    const size_t element = shape.elementBytes();
    thread_local std::vector<char> expected;
    expected.resize(std::max(expected.size(), shape.recvElements() * element));
    bool isKnown = false;  // an all-reduce gives every rank the same
    uint64_t wrong = 0;
    for (const auto& [rank, got] : results) {
      if (!isKnown || shape.test != Test::allReduce) {
        shape.forEachExpected(rank, [&](uint64_t at, uint64_t first, uint64_t count, uint32_t source) {
          char* const out = expected.data() + at * element;
          if (source == Case::kReduced) return data.reduce(out, first, count);
          data.fill(out, first, count, source);
        });
        isKnown = true;
      }
      wrong += differingElements(got, expected.data(), shape.recvElements(), element);
    }
    return wrong;
  }

 private:
  static constexpr size_t kPage = 4096;
};

inline Memory& hostMemory() {
  static HostMemory memory;
  return memory;
}

}  // namespace dfccl::bench
