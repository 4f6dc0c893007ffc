#pragma once
#include <cstdio>

#include "processes/support/processes.hpp"

/// In a child, which has no doctest: says what doesn't hold, and ends the task with kWrong.
#define EXPECT(condition)                                                               \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      std::fprintf(stderr, "%s:%d: %s doesn't hold\n", __FILE__, __LINE__, #condition); \
      return dfccl::test::kWrong;                                                       \
    }                                                                                   \
  } while (false)
