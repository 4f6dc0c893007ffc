#pragma once
// What reports and errors call a collective: what its caller would.
#include <string>

#include "world/collective_spec.hpp"

namespace dfccl {

/// "all-reduce 7"; of a signature, which has no number that says anything, the call: "all-reduce of 1000 float32, sum,
/// tag 7 (ranks 0 to 3)". Ranks are the world's.
std::string nameOf(const CollectiveSpec& spec);

}  // namespace dfccl
