#include "device/reduce_copy.cuh"
#include "device/typed_moves.cuh"

namespace dfccl::gpu {
namespace {

constexpr int kPieces = 8;

/// Element by element: also what lies differently in source and destination, so as many at once as of pieces.
template <class T>
__device__ void copyElements(const ReduceCopyArgs& args, uint64_t begin, uint64_t end) {
  constexpr int kAtOnce = 16;
  uint64_t i = begin + threadIdx.x;
#pragma unroll 1
  for (; i + (kAtOnce - 1) * kWorkers < end; i += uint64_t{kAtOnce} * kWorkers) {
    T loaded[kAtOnce];
    const T* const from = static_cast<const T*>(args.sources[0]) + i;
#pragma unroll
    for (int p = 0; p < kAtOnce; ++p) loaded[p] = loadElement(from + p * kWorkers);
#pragma unroll 1
    for (int d = 0; d < args.destinationCount; ++d) {
      T* const to = static_cast<T*>(args.destinations[d]) + i;
#pragma unroll
      for (int p = 0; p < kAtOnce; ++p) to[p * kWorkers] = loaded[p];
    }
  }
#pragma unroll 1
  for (; i < end; i += kWorkers) {
    const T value = loadElement(static_cast<const T*>(args.sources[0]) + i);
    for (int d = 0; d < args.destinationCount; ++d) static_cast<T*>(args.destinations[d])[i] = value;
  }
}

template <int kCount>
__device__ void copyPieces(const ReduceCopyArgs& args, uint64_t byteOffset, uint64_t piece) {
  uint4 loaded[kCount];
  const auto* from = reinterpret_cast<const uint4*>(static_cast<const char*>(args.sources[0]) + byteOffset) + piece;
#pragma unroll
  for (int p = 0; p < kCount; ++p) loaded[p] = loadPiece(from + p * kWorkers);
  for (int d = 0; d < args.destinationCount; ++d) {
    auto* to = reinterpret_cast<uint4*>(static_cast<char*>(args.destinations[d]) + byteOffset) + piece;
#pragma unroll
    for (int p = 0; p < kCount; ++p) to[p * kWorkers] = loaded[p];
  }
}

template <class T>
__device__ void copyOf(const ReduceCopyArgs& args) {
  const uint64_t before = elementsBeforePieces(args, sizeof(T));
  const uint64_t pieces = (args.count - before) * sizeof(T) / 16;
  copyElements<T>(args, 0, before);
  uint64_t i = threadIdx.x;
  for (; i + (kPieces - 1) * kWorkers < pieces; i += uint64_t{kPieces} * kWorkers) {
    copyPieces<kPieces>(args, before * sizeof(T), i);
  }
  for (; i < pieces; i += kWorkers) copyPieces<1>(args, before * sizeof(T), i);
  copyElements<T>(args, before + pieces * (16 / sizeof(T)), args.count);
}

}  // namespace

__device__ void copyBytes(const ReduceCopyArgs& args, uint32_t elementBytes) {
  switch (elementBytes) {
    case 1:
      return copyOf<uint8_t>(args);
    case 2:
      return copyOf<uint16_t>(args);
    case 4:
      return copyOf<uint32_t>(args);
    default:
      return copyOf<uint64_t>(args);
  }
}

}  // namespace dfccl::gpu
