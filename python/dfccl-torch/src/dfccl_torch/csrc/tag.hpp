#pragma once
#include <cstdint>
#include <string>

namespace dfccl_torch {

/// What this thread's operations are tagged with beside what matches them anyway; 0: nothing.
uint64_t currentTag();
/// Its name; "": none.
const std::string& currentTagName();
/// @param name "": nothing.
/// @return the name that was in use before.
std::string setTag(const std::string& name);
/// What a thread's collective is matched by beside its signature. @param sequence how many came before in its group
uint64_t collectiveTag(uint64_t sequence);
/// While it lives, this thread's collectives are matched by this tag alone, whatever they come behind.
class TagOfItsOwn {
 public:
  explicit TagOfItsOwn(uint64_t tag);
  ~TagOfItsOwn();
  TagOfItsOwn(const TagOfItsOwn&) = delete;
  TagOfItsOwn& operator=(const TagOfItsOwn&) = delete;

 private:
  const uint64_t before_;
  const bool wasWhole_;
};
/// Whether one of these lives: what this thread issues is part of another operation, and counts with it.
bool isPartOfAnother();
/// DFCCL_MATCH=position: collectives of a group are matched by how many came before, as with NCCL.
bool matchesByPosition();

}  // namespace dfccl_torch
