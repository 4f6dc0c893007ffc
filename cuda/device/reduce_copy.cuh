#pragma once
// reduceCopy by all workers of a block. Its bits are those of numeric/element.hpp, as on the CPU.
#include "base/reduce_copy.hpp"
#include "block/threads.cuh"
#include "numeric/element.hpp"

namespace dfccl::gpu {

// Data moves in 16-byte pieces, several of them in flight for each worker: a read across NVLink takes more than a
// microsecond. Not kept in the first-level cache, which doesn't see what other GPUs write.
__device__ inline uint4 loadPiece(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from));
  return v;
}

template <class T>
__device__ inline T loadElement(const T* from) {
  T v;
  if constexpr (sizeof(T) == 1) {
    uint32_t bits;
    asm volatile("ld.global.L1::no_allocate.u8 %0, [%1];" : "=r"(bits) : "l"(from));
    v = __builtin_bit_cast(T, static_cast<uint8_t>(bits));
  } else if constexpr (sizeof(T) == 2) {
    uint16_t bits;
    asm volatile("ld.global.L1::no_allocate.u16 %0, [%1];" : "=h"(bits) : "l"(from));
    v = __builtin_bit_cast(T, bits);
  } else if constexpr (sizeof(T) == 4) {
    uint32_t bits;
    asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(bits) : "l"(from));
    v = __builtin_bit_cast(T, bits);
  } else {
    uint64_t bits;
    asm volatile("ld.global.L1::no_allocate.u64 %0, [%1];" : "=l"(bits) : "l"(from));
    v = __builtin_bit_cast(T, bits);
  }
  return v;
}

/// Elements up to the first at a 16-byte boundary of every operand; `count` if there is no such place.
__device__ inline uint64_t elementsBeforePieces(const ReduceCopyArgs& args, uint32_t elementBytes) {
  const uint64_t offset = reinterpret_cast<uint64_t>(args.sources[0]) & 15;
  bool isAligned = offset % elementBytes == 0;
  for (int s = 1; s < args.sourceCount; ++s) {
    isAligned &= (reinterpret_cast<uint64_t>(args.sources[s]) & 15) == offset;
  }
  for (int d = 0; d < args.destinationCount; ++d) {
    isAligned &= (reinterpret_cast<uint64_t>(args.destinations[d]) & 15) == offset;
  }
  const uint64_t before = offset == 0 ? 0 : (16 - offset) / elementBytes;
  return isAligned && before < args.count ? before : args.count;
}

/// The arithmetic of one element: sources folded in order, and what becomes of their sum.
template <class T>
class Folding {
 public:
  using Element = element::Element<T>;
  using Value = typename Element::Value;

  __device__ Folding(ReduceOp op, const double* scales, uint32_t divisor)
      : scales_(op == ReduceOp::scaledSum ? scales : nullptr), divisor_(op == ReduceOp::avg ? divisor : 0) {}

  template <ReduceOp op>
  __device__ void foldInto(Value& value, T stored, int source) const {
    Value next = Element::read(stored);
    if (scales_ != nullptr) next = element::wrappingMultiply(next, element::convertScale<Value>(scales_[source]));
    value = source == 0 ? next : element::fold(op, value, next);
  }
  __device__ T finish(Value value) const {
    if (divisor_ > 1) value = element::divide(value, divisor_);
    return Element::write(element::withCanonicalNan(value));
  }

 private:
  const double* scales_;
  uint32_t divisor_;
};

/// A reduce-copy of one type and operator.
template <class T>
class TeamReduction {
 public:
  using Value = typename Folding<T>::Value;
  static constexpr int kPerPiece = 16 / sizeof(T);
  // Sources loaded together, and pieces of each: as many as the registers hold.
  static constexpr int kGroup = 4;
  static constexpr int kPieces = sizeof(T) >= 4 ? 4 : 2;

  __device__ TeamReduction(ReduceOp op, const ReduceCopyArgs& args)
      : args_(args), folding_(op, args.scales, args.divisor) {}

  template <ReduceOp op>
  __device__ void run() const {
    const uint64_t before = elementsBeforePieces(args_, sizeof(T));
    const uint64_t pieces = (args_.count - before) / kPerPiece;
    runElements<op>(0, before);
    runPieces<op>(before, pieces);
    runElements<op>(before + pieces * kPerPiece, args_.count);
  }

 private:
  template <ReduceOp op>
  __device__ void runElements(uint64_t begin, uint64_t end) const {
    for (uint64_t i = begin + threadIdx.x; i < end; i += kWorkers) {
      Value value{};
      for (int s = 0; s < args_.sourceCount; ++s) {
        folding_.template foldInto<op>(value, loadElement(static_cast<const T*>(args_.sources[s]) + i), s);
      }
      const T result = folding_.finish(value);
      for (int d = 0; d < args_.destinationCount; ++d) static_cast<T*>(args_.destinations[d])[i] = result;
    }
  }

  template <ReduceOp op>
  __device__ void runPieces(uint64_t firstElement, uint64_t pieces) const {
    uint64_t i = threadIdx.x;
    for (; i + (kPieces - 1) * kWorkers < pieces; i += uint64_t{kPieces} * kWorkers)
      reduce<op, kPieces>(firstElement, i);
    for (; i < pieces; i += kWorkers) reduce<op, 1>(firstElement, i);
  }

  template <ReduceOp op, int kCount>
  __device__ void reduce(uint64_t firstElement, uint64_t piece) const {
    Value values[kCount][kPerPiece];
    for (int first = 0; first < args_.sourceCount; first += kGroup) {
      uint4 loaded[kGroup][kCount];
#pragma unroll
      for (int g = 0; g < kGroup; ++g) {
        if (first + g >= args_.sourceCount) break;
        const auto* from =
            reinterpret_cast<const uint4*>(static_cast<const T*>(args_.sources[first + g]) + firstElement) + piece;
#pragma unroll
        for (int p = 0; p < kCount; ++p) loaded[g][p] = loadPiece(from + p * kWorkers);
      }
#pragma unroll
      for (int g = 0; g < kGroup; ++g) {
        if (first + g >= args_.sourceCount) break;
#pragma unroll
        for (int p = 0; p < kCount; ++p) {
          const auto stored = __builtin_bit_cast(Pack, loaded[g][p]);
#pragma unroll
          for (int e = 0; e < kPerPiece; ++e) folding_.template foldInto<op>(values[p][e], stored.items[e], first + g);
        }
      }
    }
#pragma unroll
    for (int p = 0; p < kCount; ++p) {
      Pack result;
#pragma unroll
      for (int e = 0; e < kPerPiece; ++e) result.items[e] = folding_.finish(values[p][e]);
      const uint4 bits = __builtin_bit_cast(uint4, result);
      for (int d = 0; d < args_.destinationCount; ++d) {
        auto* to = reinterpret_cast<uint4*>(static_cast<T*>(args_.destinations[d]) + firstElement) + piece;
        to[p * kWorkers] = bits;
      }
    }
  }

  struct alignas(16) Pack {
    T items[kPerPiece];
  };

  const ReduceCopyArgs& args_;
  const Folding<T> folding_;
};

}  // namespace dfccl::gpu
