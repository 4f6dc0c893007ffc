#pragma once
#include <cstddef>

#include "base/host_device.hpp"

namespace dfccl {

/// Where an array lies and how long it is. Owns nothing: the daemon reads through it, and whoever made the memory, in
/// the process or on a GPU, keeps it.
template <class T>
struct Array {
  T* items = nullptr;
  size_t count = 0;

  DFCCL_HD T& operator[](size_t index) const { return items[index]; }
  DFCCL_HD T* data() const { return items; }
  DFCCL_HD size_t size() const { return count; }
  DFCCL_HD bool empty() const { return count == 0; }
  DFCCL_HD T* begin() const { return items; }
  DFCCL_HD T* end() const { return items + count; }
};

/// The array that a container holds, as long as it holds it.
template <class Container>
auto arrayOf(Container& container) {
  return Array{container.data(), container.size()};
}

}  // namespace dfccl
