#pragma once
// What became of the test cases. doctest counts one that returns early among those that passed.
#include <doctest/doctest.h>

#include <string>

namespace dfccl::gpu::test {

struct Outcomes {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
};

/// Of all cases that have ended.
const Outcomes& outcomes();

/// Counts the case that is running as skipped, unless it fails. Return from it afterwards.
void skip(const std::string& reason);

}  // namespace dfccl::gpu::test
