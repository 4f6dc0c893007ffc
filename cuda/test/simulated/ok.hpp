#pragma once
#include <cstdio>

#include "dfccl/dfccl.h"
#include "processes/support/processes.hpp"

/// In a process of a test: the process ends as wrong, with the error.
#define OK(call)                                                                               \
  do {                                                                                         \
    if ((call) != dfcclSuccess) {                                                              \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, dfcclGetLastError()); \
      return dfccl::test::kWrong;                                                              \
    }                                                                                          \
  } while (false)
