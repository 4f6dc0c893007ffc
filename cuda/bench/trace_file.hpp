#pragma once
#include <cuda_runtime_api.h>

#include "device/trace.cuh"
#include "host/check.hpp"

namespace dfccl::gpu::bench {

inline TracePoint pointOf(const TraceEvent& event) { return static_cast<TracePoint>(event.what & 0xff); }
inline uint64_t valueOf(const TraceEvent& event) { return event.what >> 8; }

inline const char* nameOf(TracePoint point) {
  static const char* const names[kTracePointCount] = {
      "none",           "entered",       "left",         "submission seen", "run taken", "context loading",
      "context loaded", "context saved", "peers known",  "move ordered",    "move done", "part done",
      "stuck",          "preempted",     "run finished", "posted"};
  const auto index = static_cast<int>(point);
  return index < kTracePointCount ? names[index] : "unknown";
}

inline double nanosPerCycleOf(int device) {
  int kilohertz = 0;
  DFCCL_CUDA(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device));
  return 1e6 / kilohertz;
}

}  // namespace dfccl::gpu::bench
