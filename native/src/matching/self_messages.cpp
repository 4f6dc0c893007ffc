#include "matching/self_messages.hpp"

namespace dfccl {

std::optional<SelfMessages::Half> SelfMessages::meet(const CollectiveId& key, bool isSend, const Half& half) {
  Halves& halves = halves_[key];
  if (halves.waiting.empty() || halves.areSends == isSend) {
    halves.areSends = isSend;
    halves.waiting.push_back(half);
    return std::nullopt;
  }
  Half other = halves.waiting.front();
  halves.waiting.pop_front();
  if (halves.waiting.empty()) halves_.erase(key);
  return other;
}

const SelfMessages::Half* SelfMessages::facing(const CollectiveId& key, bool isSend) const {
  const auto found = halves_.find(key);
  const bool isThere = found != halves_.end() && !found->second.waiting.empty() && found->second.areSends != isSend;
  return isThere ? &found->second.waiting.front() : nullptr;
}

void SelfMessages::putBack(const CollectiveId& key, bool isSend, const Half& half) {
  Halves& halves = halves_[key];
  halves.areSends = isSend;
  halves.waiting.push_front(half);
}

std::vector<RequestPart*> SelfMessages::takeOf(const MatchedGroup& group) {
  std::vector<RequestPart*> taken;
  for (auto& [key, halves] : halves_) {
    std::erase_if(halves.waiting, [&](const Half& half) {
      const bool isMine = half.group.get() == &group;
      if (isMine) taken.push_back(half.part);
      return isMine;
    });
  }
  std::erase_if(halves_, [](const auto& entry) { return entry.second.waiting.empty(); });
  return taken;
}

uint64_t SelfMessages::countOf(const MatchedGroup& group) const {
  uint64_t count = 0;
  for (const auto& [key, halves] : halves_) {
    for (const Half& half : halves.waiting) count += half.group.get() == &group ? 1 : 0;
  }
  return count;
}

size_t SelfMessages::count() const {
  size_t count = 0;
  for (const auto& [key, halves] : halves_) count += halves.waiting.size();
  return count;
}

}  // namespace dfccl
