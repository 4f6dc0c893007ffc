#pragma once
// Marks a function for both sides of a GPU build: what the daemon runs is one source for the CPU and the GPU.
#if defined(__CUDACC__)
#define DFCCL_HD __host__ __device__
#else
#define DFCCL_HD
#endif
