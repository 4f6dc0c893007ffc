#pragma once
// The only door to atomics. Every access writes its order out; a field's scope is part of its type.
// Back ends: std::atomic_ref (CPU, the default), cuda::atomic_ref (compiled by nvcc for the device), and the
// relaxed-memory verifier (DFCCL_RELACY). There are no stand-alone fences: orders stand on the operations, which is
// what ThreadSanitizer and the verifier understand.
#include <cstdint>

#include "base/host_device.hpp"

#if defined(DFCCL_RELACY)
#include "base/detail/atomics_relacy.hpp"
#elif defined(__CUDACC__)
#include "base/detail/atomics_cuda.hpp"
#else
#include "base/detail/atomics_std.hpp"
#endif
