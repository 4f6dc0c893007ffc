#pragma once
// For code that is one source for the CPU and the GPU: DFCCL_HD marks a function for both sides of a GPU build,
// DFCCL_UNROLL8 a loop of at most eight turns. DFCCL_COLD and DFCCL_HOT mark, beside DFCCL_HD, what a GPU's control
// thread seldom and always passes through: one thread reads its instructions alone, so what it doesn't need must not
// lie between what it needs. DFCCL_RARE marks the declaration of a function that a CPU seldom calls: the call lies
// apart.
#if defined(__CUDACC__)
#define DFCCL_HD __host__ __device__
#define DFCCL_COLD __noinline__
#define DFCCL_HOT __forceinline__
#define DFCCL_RARE
#define DFCCL_UNROLL8 _Pragma("unroll")
#else
#define DFCCL_HD
#define DFCCL_COLD
#define DFCCL_HOT
#define DFCCL_RARE [[gnu::cold]]
#define DFCCL_UNROLL8 _Pragma("GCC unroll 8")
#endif
