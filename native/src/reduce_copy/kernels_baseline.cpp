// Kernels in what every CPU of this architecture has: SSE2 on x86-64, NEON on aarch64, elsewhere whatever the compiler
// makes of 16-byte vectors.
#include "families.hpp"
#include "kernel_prelude.hpp"
#include "stream_store.hpp"

#if defined(__clang__)
#pragma clang fp contract(off)
#else
#pragma GCC optimize("fp-contract=off")
#endif

namespace dfccl::reduce_copy {
namespace {
constexpr unsigned kVectorBytes = 16;
#if defined(__x86_64__)
constexpr bool kUnrollsSources = false;  // a fallback for CPUs of before 2013: small rather than fastest
#else
constexpr bool kUnrollsSources = true;
#endif
}  // namespace
}  // namespace dfccl::reduce_copy

#include "kernels.hpp"

namespace dfccl::reduce_copy {
namespace {
#if defined(__x86_64__)
constexpr const char* kName = "sse2";
#elif defined(__aarch64__)
constexpr const char* kName = "neon";
#else
constexpr const char* kName = "portable";
#endif
}  // namespace

constinit const KernelFamily kBaselineFamily = makeFamily(
    kName, [] { return true; }, kStreamStore, kStreamFence);

}  // namespace dfccl::reduce_copy
