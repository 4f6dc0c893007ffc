#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

namespace dfccl::gpu::simulated {

/// What CUDA knows of a piece of memory.
struct Piece {
  enum class Kind {
    device,      // a memfd, which another process maps at another address
    pool,        // of the device too, but never exported
    host,        // pinned, CUDA's own
    registered,  // pinned, the caller's
    opened       // another process's
  };

  uintptr_t begin;
  size_t bytes;
  Kind kind;
  int device;
  int descriptor;  // of the memfd, or -1
  unsigned long long identity;

  bool isPinned() const { return kind == Kind::host || kind == Kind::registered; }
};

/// This process's. Each function is one step for all threads.
/// @return its address, or nullptr where there is no memory left.
void* makeDevicePiece(size_t bytes, Piece::Kind kind, int device);
void* makeHostPiece(size_t bytes, int device);
/// The next piece of a device that is so large finds no memory left; those behind it do.
void refuseNextPiece(size_t bytes);
/// @return false: some of it is known already.
bool registerPiece(void* memory, size_t bytes, int device);
/// @param descriptor of the other process's memory; closed.
void* openPiece(int descriptor, size_t bytes, int device);

/// How many pieces of other processes' this one has open.
size_t openPieces();

/// The piece that an address lies in.
std::optional<Piece> pieceAt(const void* address);
/// The piece that begins there.
std::optional<Piece> pieceOf(const void* begin);
/// Forgets a piece, and gives its memory back.
void dropPiece(const void* begin);

/// Whether it is memory of the host's that CUDA knows nothing of.
bool isPageable(const void* address);

}  // namespace dfccl::gpu::simulated
