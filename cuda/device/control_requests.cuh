#pragma once
// What the host asks the daemon to write to the device's memory, or to show of it: see ControlRequest.
#include "block/block_shared.cuh"

namespace dfccl::gpu {

/// The workers. Past the first-level cache, in which bytes of an earlier request may lie.
__device__ __noinline__ inline void carryOutRequest(const ControlRequest& request) {
  const bool isClear = request.kind == ControlRequest::clear;
  const uint64_t wide = (request.to | request.from) % 8 == 0 ? request.bytes / 8 * 8 : 0;
  auto* const to = reinterpret_cast<volatile uint64_t*>(request.to);
  const auto* const from = reinterpret_cast<const volatile uint64_t*>(request.from);
  for (uint64_t i = threadIdx.x; i < wide / 8; i += kWorkers) to[i] = isClear ? 0 : from[i];
  auto* const toByte = reinterpret_cast<volatile uint8_t*>(request.to);
  const auto* const fromByte = reinterpret_cast<const volatile uint8_t*>(request.from);
  for (uint64_t i = wide + threadIdx.x; i < request.bytes; i += kWorkers) toByte[i] = isClear ? 0 : fromByte[i];
}

}  // namespace dfccl::gpu
