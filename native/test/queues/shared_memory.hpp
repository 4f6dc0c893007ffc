#pragma once
// Memory for a queue under test, as mmap or an external ArrayBuffer would give it.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace dfccl::test {

class SharedMemory {
 public:
  /// Filled with rubbish, so that a queue that relies on zeroed memory is found out.
  explicit SharedMemory(size_t bytes) : data_(std::aligned_alloc(64, (bytes + 63) / 64 * 64)) {
    std::memset(data_.get(), 0xa5, (bytes + 63) / 64 * 64);
  }

  operator void*() const { return data_.get(); }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> data_;
};

}  // namespace dfccl::test
