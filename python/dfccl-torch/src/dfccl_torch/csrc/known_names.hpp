#pragma once
#include <cstdint>
#include <string>

namespace dfccl_torch {

/// What an operation's tag is made of, for whoever reads what the library says of it.
struct TagFacts {
  std::string whole;         // the operation that it is a part of; "": none
  std::string name;          // dfccl_torch.tag's; "": none
  uint64_t number = 0;       // a message's tag, or a collective's place among the group's; 0: none
  bool isMessage = false;    // which of the two
  uint64_t distinction = 0;  // Elements, Reduction
};

/// Whether this thread noted the tag not long ago, so that the facts needn't be gathered.
bool isNoted(uint64_t tag);
/// Keeps the last few thousand of the process. Any thread.
void noteTag(uint64_t tag, TagFacts facts);
/// @param key what the library calls it.
void noteGroup(uint64_t key, const std::string& name);
/// The text of the library with the names that tags and groups have in Python in place of their numbers.
std::string withNames(const std::string& text);

}  // namespace dfccl_torch
