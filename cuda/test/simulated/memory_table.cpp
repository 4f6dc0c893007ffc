#include "simulated/memory_table.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>

namespace dfccl::gpu::simulated {
namespace {

constexpr size_t kPage = 4096;

struct Table {
  std::mutex mutex;
  std::map<uintptr_t, Piece> pieces;
  unsigned long long identities = 0;

  void* add(void* memory, Piece piece) {
    const std::lock_guard lock(mutex);
    piece.begin = reinterpret_cast<uintptr_t>(memory);
    piece.identity = ++identities;
    pieces[piece.begin] = piece;
    return memory;
  }
};

/// Never destroyed: streams may still be at work when the process ends.
Table& table() {
  static auto& only = *new Table;
  return only;
}

size_t rounded(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

void* map(int descriptor, size_t bytes) {
  void* const mapped = mmap(nullptr, rounded(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return mapped != MAP_FAILED ? mapped : nullptr;
}

std::atomic<size_t> refusedFrom = SIZE_MAX;

}  // namespace

void refuseNextPiece(size_t bytes) { refusedFrom = bytes; }

void* makeDevicePiece(size_t bytes, Piece::Kind kind, int device) {
  size_t refused = refusedFrom;
  if (bytes >= refused && refusedFrom.compare_exchange_strong(refused, SIZE_MAX)) return nullptr;
  const int descriptor = memfd_create("simulated device", MFD_CLOEXEC);
  if (descriptor < 0) return nullptr;
  void* const mapped =
      ftruncate(descriptor, static_cast<off_t>(rounded(bytes))) == 0 ? map(descriptor, bytes) : nullptr;
  if (mapped == nullptr) {
    close(descriptor);
    return nullptr;
  }
  return table().add(mapped, {0, bytes, kind, device, descriptor, 0});
}

void* makeHostPiece(size_t bytes, int device) {
  void* const memory = std::aligned_alloc(kPage, rounded(bytes));
  if (memory == nullptr) return nullptr;
  return table().add(memory, {0, bytes, Piece::Kind::host, device, -1, 0});
}

bool registerPiece(void* memory, size_t bytes, int device) {
  if (pieceAt(memory) || pieceAt(static_cast<char*>(memory) + bytes - 1)) return false;
  table().add(memory, {0, bytes, Piece::Kind::registered, device, -1, 0});
  return true;
}

void* openPiece(int descriptor, size_t bytes, int device) {
  void* const mapped = map(descriptor, bytes);
  close(descriptor);
  if (mapped == nullptr) return nullptr;
  return table().add(mapped, {0, bytes, Piece::Kind::opened, device, -1, 0});
}

size_t openPieces() {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  return static_cast<size_t>(std::count_if(all.pieces.begin(), all.pieces.end(),
                                           [](const auto& entry) { return entry.second.kind == Piece::Kind::opened; }));
}

std::optional<Piece> pieceAt(const void* address) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const auto at = reinterpret_cast<uintptr_t>(address);
  const auto above = all.pieces.upper_bound(at);
  if (above == all.pieces.begin()) return std::nullopt;
  const Piece& piece = std::prev(above)->second;
  if (at - piece.begin >= piece.bytes) return std::nullopt;
  return piece;
}

std::optional<Piece> pieceOf(const void* begin) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const auto found = all.pieces.find(reinterpret_cast<uintptr_t>(begin));
  if (found == all.pieces.end()) return std::nullopt;
  return found->second;
}

void dropPiece(const void* begin) {
  Table& all = table();
  // Until it is unmapped its address is nobody's.
  const std::lock_guard lock(all.mutex);
  const auto found = all.pieces.find(reinterpret_cast<uintptr_t>(begin));
  if (found == all.pieces.end()) return;
  const Piece piece = found->second;
  all.pieces.erase(found);
  void* const memory = reinterpret_cast<void*>(piece.begin);
  if (piece.kind == Piece::Kind::registered) return;
  if (piece.kind == Piece::Kind::host) return std::free(memory);
  munmap(memory, rounded(piece.bytes));
  if (piece.descriptor >= 0) close(piece.descriptor);
}

bool isPageable(const void* address) { return !pieceAt(address).has_value(); }

}  // namespace dfccl::gpu::simulated
