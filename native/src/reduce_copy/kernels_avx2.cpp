// Kernels in AVX2 and F16C (x86-64-v3 CPUs, 2013 and later). Without FMA: its one rounding would give other bits.
#if defined(__x86_64__)
#include <cpuid.h>

#include "families.hpp"
#include "kernel_prelude.hpp"
#include "stream_store.hpp"

#if defined(__clang__)
#pragma clang fp contract(off)
#pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#pragma GCC target("avx2,f16c")
#endif

namespace dfccl::reduce_copy {
namespace {
constexpr unsigned kVectorBytes = 32;
constexpr bool kUnrollsSources = true;
}  // namespace
}  // namespace dfccl::reduce_copy

#include "kernels.hpp"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace dfccl::reduce_copy {
namespace {

// F16C has no name in the builtin of older compilers. It needs no support of the system beyond AVX2's.
bool isSupported() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

}  // namespace

constinit const KernelFamily kAvx2Family = makeFamily("avx2", isSupported, kStreamStore, kStreamFence);

}  // namespace dfccl::reduce_copy
#endif
