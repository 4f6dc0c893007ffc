#pragma once
// The collective tests' data, made and compared on the device by the same functions as on the host.
#include <cuda_runtime_api.h>

#include "perf/exact_data.hpp"

namespace dfccl::gpu::measure {

/// Writes elements 0 … count - 1 of what rank `whose` gives.
void fillExact(const bench::ExactData& data, void* out, uint64_t count, uint32_t whose, cudaStream_t stream);
/// Adds to *wrong how many of `count` elements differ in any bit from elements `first` … of what `source` gives, or of
/// all ranks' reduction (Case::kReduced).
void compareExact(const bench::ExactData& data, const void* got, uint64_t first, uint64_t count, uint32_t source,
                  unsigned long long* wrong, cudaStream_t stream);

}  // namespace dfccl::gpu::measure
