#pragma once
#include <stdexcept>
#include <string>

#include "dfccl/dfccl.h"
#include "stream_programs/program.hpp"

namespace dfccl::gpu::programs {

inline void must(dfcclResult_t result, const char* call) {
  if (result == dfcclSuccess) return;
  throw std::runtime_error(std::string(call) + ": " + dfcclGetLastError());
}

#define PROGRAMS_OK(call) must((call), #call)

/// Registers a program's collective on one of its ranks.
void registerCollective(const Collective& collective, int id, int priority, dfcclRankCtx_t context);

}  // namespace dfccl::gpu::programs
