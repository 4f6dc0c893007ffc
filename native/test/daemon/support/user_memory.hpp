#pragma once
// The application's buffers. Each is lent to the library from submission to completion; outside of that it is the
// application's, which writes nonsense into it. An engine that touches a buffer then is caught twice: by this record,
// and by the nonsense in its results.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "random.hpp"

namespace dfccl::test {

class UserMemory {
 public:
  explicit UserMemory(size_t capacity) : bytes_(capacity), isLent_(capacity, 0) {}

  /// Where an address that nobody has told points to: never lent.
  uint64_t nowhere() const { return reinterpret_cast<uint64_t>(bytes_.data()); }

  /// A buffer that nobody has used before, so that a stale address never points to a later run's.
  uint8_t* allocate(size_t bytes) {
    const size_t begin = top_;
    top_ += (bytes + 31) / 16 * 16;  // a gap behind each
    if (top_ > bytes_.size()) return nullptr;
    return bytes_.data() + begin;
  }
  void lend(uint8_t* buffer, size_t bytes) { mark(buffer, bytes, 1); }
  void takeBack(uint8_t* buffer, size_t bytes, Random& random) {
    mark(buffer, bytes, 0);
    scribble(buffer, bytes, random);
  }
  static void scribble(uint8_t* buffer, size_t bytes, Random& random) {
    for (size_t i = 0; i < bytes; ++i) buffer[i] = static_cast<uint8_t>(random.next());
  }

  /// Whether the library may touch these bytes now. Memory that isn't the application's is the library's own, but an
  /// offset from no address at all is nobody's.
  bool mayTouch(const void* at, size_t bytes) const {
    constexpr uintptr_t kNobodys = 1 << 16;
    const auto address = reinterpret_cast<uintptr_t>(at);
    if (address < kNobodys) return bytes == 0;
    const auto begin = reinterpret_cast<uintptr_t>(bytes_.data());
    if (address < begin || address >= begin + bytes_.size()) return true;
    const size_t offset = address - begin;
    return offset + bytes <= isLent_.size() && std::memchr(isLent_.data() + offset, 0, bytes) == nullptr;
  }

 private:
  static constexpr size_t kNowhereBytes = 4096;

  void mark(const uint8_t* buffer, size_t bytes, uint8_t value) {
    if (bytes != 0) std::memset(isLent_.data() + (buffer - bytes_.data()), value, bytes);
  }

  std::vector<uint8_t> bytes_, isLent_;
  size_t top_ = kNowhereBytes;
};

}  // namespace dfccl::test
