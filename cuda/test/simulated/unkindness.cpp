#include "simulated/unkindness.hpp"

#include <cstdlib>

namespace dfccl::gpu::simulated {
namespace {

int64_t readVariable(const char* variable, int64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr && *text != '\0' ? std::atoll(text) : otherwise;
}

}  // namespace

Switch::Switch(const char* variable, int64_t otherwise) : value_(readVariable(variable, otherwise)) {}

Unkindness& unkindness() {
  // Never destroyed: streams may still be at work when the process ends.
  static auto& only = *new Unkindness;
  return only;
}

}  // namespace dfccl::gpu::simulated
