#include "nan_check.hpp"

#include <ATen/core/LegacyTypeDispatch.h>

#include <cstdlib>
#include <string>

#include "device_stream.hpp"
#include "error.hpp"

namespace dfccl_torch {
namespace {

bool looksForNan() {
  static const bool looks = [] {
    const char* const value = std::getenv("DFCCL_NAN_CHECK");
    return value != nullptr && std::string(value) == "1";
  }();
  return looks;
}

}  // namespace

void checkForNan(const at::Tensor& input, const char* operation, const Group& group) {
  if (!looksForNan()) return;
  const at::ScalarType type = input.scalar_type();
  if (!at::isFloatingType(type) && !at::isComplexType(type)) return;
  if (!input.is_cpu() && isCapturing(currentStream(input.device()))) return;
  const at::AutoDispatchBelowADInplaceOrView guard;
  // Not all operators are there for floats of 8 bits.
  const at::Tensor isNan = at::isnan(at::isFloat8Type(type) ? input.to(at::kFloat) : input);
  const auto count = isNan.sum().item<int64_t>();
  if (count == 0) return;
  refuse("Rank " + std::to_string(group.worldRank()) + "'s input of " + operation + " in group " + group.name() +
             " has NaN: " + std::to_string(count) + " of " + std::to_string(input.numel()) +
             " elements (DFCCL_NAN_CHECK is 1).",
         "See where on this rank they come from (torch.autograd.set_detect_anomaly), or unset DFCCL_NAN_CHECK.");
}

}  // namespace dfccl_torch
