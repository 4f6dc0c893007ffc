#pragma once
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace dfccl::test {

/// SplitMix64: the same numbers on every machine and standard library, so that a printed seed can be run anywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// 0 to n - 1.
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(next() % n); }
  bool oneIn(uint32_t n) { return below(n) == 0; }
  template <class T>
  T among(std::initializer_list<T> choices) {
    return choices.begin()[below(static_cast<uint32_t>(choices.size()))];
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(static_cast<uint32_t>(i))]);
  }

 private:
  uint64_t state_;
};

}  // namespace dfccl::test
