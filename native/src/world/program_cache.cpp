#include "world/program_cache.hpp"

#include <algorithm>

namespace dfccl {

std::shared_ptr<const BoundProgram> ProgramCache::get(std::span<const uint8_t> bytes, DataType type, uint64_t count) {
  // The digest is what the program says of itself, so the bytes are part of the key.
  std::string key(bytes.begin(), bytes.end());
  key += "|" + std::to_string(static_cast<int>(type)) + "|" + std::to_string(count);
  const auto known = programs_.find(key);
  if (known != programs_.end()) {
    if (std::shared_ptr<const BoundProgram> program = known->second.lock()) return program;
  }
  std::shared_ptr<const BoundProgram> program = loadProgram(bytes, type, count, tiles_);
  if (programs_.size() >= sweepAt_) sweep();
  programs_.insert_or_assign(std::move(key), program);
  return program;
}

void ProgramCache::sweep() {
  std::erase_if(programs_, [](const auto& entry) { return entry.second.expired(); });
  sweepAt_ = std::max(kFew, 2 * programs_.size());
}

}  // namespace dfccl
