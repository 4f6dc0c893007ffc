#pragma once
// Vectors of any element type and number. This header and those on top of it are included by each kernels_*.cpp after
// it has chosen its instructions and kVectorBytes; everything is in an unnamed namespace, because the same template
// means other instructions in each of those files and the linker must not merge them.
//
// Written in the vector extensions of GCC and Clang rather than in intrinsics, so that one source serves every CPU;
// only what they have no words for, or bad ones, is in x86_conversions.hpp.

namespace dfccl::reduce_copy {
namespace {

template <class T, int kLanes>
struct VectorOf {
  typedef T Type __attribute__((vector_size(sizeof(T) * kLanes)));
};
template <class T, int kLanes>
using Vector = typename VectorOf<T, kLanes>::Type;

#define DFCCL_INLINE [[gnu::always_inline]] inline

template <class V>
DFCCL_INLINE V loadVector(const char* from) {
  V value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <class V>
DFCCL_INLINE void storeVector(char* to, V value) {
  __builtin_memcpy(to, &value, sizeof value);
}

template <class V, class Scalar>
DFCCL_INLINE V broadcast(Scalar value) {
  return value - V{};
}

}  // namespace
}  // namespace dfccl::reduce_copy
