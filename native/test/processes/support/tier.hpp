#pragma once
#include <cstdlib>
#include <string>

namespace dfccl::test {

inline bool isLongTier() {
  const char* tier = std::getenv("DFCCL_TEST_TIER");
  return tier != nullptr && std::string(tier) == "long";
}

}  // namespace dfccl::test
