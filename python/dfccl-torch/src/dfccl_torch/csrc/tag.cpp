#include "tag.hpp"

#include <cstdlib>

#include "error.hpp"
#include "hash.hpp"

namespace dfccl_torch {
namespace {

thread_local std::string tagName;
thread_local uint64_t tagHash = 0;
thread_local bool isWhole = false;  // it is all that matches

bool readMatch() {
  const char* const match = std::getenv("DFCCL_MATCH");
  const std::string text = match == nullptr ? "" : match;
  if (text == "position") return true;
  if (text.empty() || text == "signature") return false;
  refuse("DFCCL_MATCH is \"" + text + "\".", "Allowed: signature (the default) and position.");
}

}  // namespace

uint64_t currentTag() { return tagHash; }

const std::string& currentTagName() { return tagName; }

std::string setTag(const std::string& name) {
  std::string before = std::move(tagName);
  tagName = name;
  tagHash = name.empty() ? 0 : hashOf(name);
  return before;
}

uint64_t collectiveTag(uint64_t sequence) {
  return matchesByPosition() && !isWhole ? mixed(tagHash, sequence) : tagHash;
}

bool isPartOfAnother() { return isWhole; }

TagOfItsOwn::TagOfItsOwn(uint64_t tag) : before_(tagHash), wasWhole_(isWhole) {
  tagHash = tag;
  isWhole = true;
}

TagOfItsOwn::~TagOfItsOwn() {
  tagHash = before_;
  isWhole = wasWhole_;
}

bool matchesByPosition() {
  static const bool byPosition = readMatch();
  return byPosition;
}

}  // namespace dfccl_torch
