#pragma once
#include <cstdio>
#include <string>

namespace dfccl::test {

/// For processes that can't use the test's own assertions.
inline bool contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  std::fprintf(stderr, "\"%s\" doesn't say \"%s\"\n", text.c_str(), part.c_str());
  return false;
}

}  // namespace dfccl::test
