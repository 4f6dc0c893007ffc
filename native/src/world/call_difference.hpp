#pragma once
// For reports: ranks that mean one call and don't agree on it, so that neither's is ever complete.
#include <cstdint>
#include <optional>
#include <string>

#include "world/collective_spec.hpp"

namespace dfccl {

struct CallDifference {
  uint32_t fields;   // in how many they differ
  std::string text;  // "count 999, not 1000"
};

/// How a call without an id differs from another that may have been meant by it: of the same ranks, purpose and tag.
/// @return nothing: it is the same, or none of that.
std::optional<CallDifference> differenceOf(const CollectiveSpec& theirs, const CollectiveSpec& mine);

}  // namespace dfccl
