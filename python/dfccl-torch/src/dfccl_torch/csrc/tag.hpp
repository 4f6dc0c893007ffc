#pragma once
#include <cstdint>
#include <string>

namespace dfccl_torch {

/// What this thread's operations are tagged with beside what matches them anyway; 0: nothing.
uint64_t currentTag();
/// @param name "": nothing.
/// @return the name that was in use before.
std::string setTag(const std::string& name);
/// DFCCL_MATCH=position: collectives of a group are matched by how many came before, as with NCCL.
bool matchesByPosition();

}  // namespace dfccl_torch
