#pragma once
// Pieces of the memory that processes share.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "daemon/state/connector.hpp"
#include "processes/shared_arena.hpp"

namespace dfccl {

template <class T>
T* makeShared(SharedArena arena, size_t count) {
  return reinterpret_cast<T*>(arena.allocate(count * sizeof(T)));
}

template <class T>
void dropShared(SharedArena arena, T* array, size_t count) {
  arena.free(reinterpret_cast<uint8_t*>(const_cast<std::remove_const_t<T>*>(array)), count * sizeof(T));
}

/// A connector's memory, in one piece.
inline size_t connectionBytes(const Connector& c) {
  return sizeof(ConnectorMemory) + size_t{c.slotCount} * c.slotBytes;
}

}  // namespace dfccl
