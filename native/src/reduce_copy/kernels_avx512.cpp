// Kernels in AVX-512 (its F, BW, DQ and VL parts).
#if defined(__x86_64__)
#include "families.hpp"
#include "kernel_prelude.hpp"
#include "stream_store.hpp"

#if defined(__clang__)
#pragma clang fp contract(off)
#pragma clang attribute push(__attribute__((target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#pragma GCC target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl")
#endif

namespace dfccl::reduce_copy {
namespace {
constexpr unsigned kVectorBytes = 64;
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

bool isSupported() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

}  // namespace

constinit const KernelFamily kAvx512Family = makeFamily("avx512", isSupported, kStreamStore, kStreamFence);

}  // namespace dfccl::reduce_copy
#endif
