#pragma once
// Marks a function for both sides of a GPU build. The scheduling policies are one source for the CPU and the GPU
// daemon.
#if defined(__CUDACC__)
#define DFCCL_HD __host__ __device__
#else
#define DFCCL_HD
#endif
