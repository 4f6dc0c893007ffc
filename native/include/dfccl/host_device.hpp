#pragma once
// For code that is one source for the CPU and the GPU: DFCCL_HD marks a function for both sides of a GPU build,
// DFCCL_UNROLL8 a loop of at most eight turns.
#if defined(__CUDACC__)
#define DFCCL_HD __host__ __device__
#define DFCCL_UNROLL8 _Pragma("unroll")
#else
#define DFCCL_HD
#define DFCCL_UNROLL8 _Pragma("GCC unroll 8")
#endif
