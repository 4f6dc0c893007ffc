#include "matching/open_receives.hpp"

#include <utility>

namespace dfccl {

void OpenReceives::add(Receive receive) {
  alike_[idOf(receive.run.signature)].push_back(std::move(receive));
  count_.fetchAdd(1, order::relaxed);
}

std::vector<RequestPart*> OpenReceives::takeOf(const MatchedGroup& group) {
  std::vector<RequestPart*> taken;
  while (const auto receive = takeFirst([&](const Receive& one) { return one.group.get() == &group; })) {
    taken.push_back(receive->part);
  }
  return taken;
}

uint64_t OpenReceives::countOf(const MatchedGroup& group) const {
  uint64_t count = 0;
  forEach([&](const Receive& receive) { count += receive.group.get() == &group ? 1 : 0; });
  return count;
}

}  // namespace dfccl
