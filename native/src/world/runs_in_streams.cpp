#include "world/runs_in_streams.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dfccl {

void RunsInStreams::launched(Prepared& prepared, uint64_t number, std::shared_ptr<const void> room) noexcept {
  prepared.run_.front().number = number;
  prepared.run_.front().room = std::move(room);
  Source& source = *prepared.its_;
  const std::lock_guard lock(mutex_);
  if (source.runs.empty()) active_.splice(active_.end(), prepared.source_);
  source.runs.splice(source.runs.end(), prepared.run_);
  count_.fetchAdd(1, order::seqCst);
}

void RunsInStreams::ended(Prepared& prepared) noexcept {
  const std::lock_guard lock(mutex_);
  if (!prepared.run_.empty()) {
    ended_.splice(ended_.end(), prepared.run_);
    count_.fetchAdd(1, order::seqCst);
    return;
  }
  // It is the last of those that aren't ended yet.
  Source& source = *prepared.its_;
  ended_.splice(ended_.end(), source.runs, std::prev(source.runs.end()));
  if (source.runs.empty()) std::erase_if(active_, [&](const auto& active) { return active.source.get() == &source; });
}

bool RunsInStreams::isAnyUnderWay() {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(
      active_, [](const Prepared::Active& active) { return !isOver(*active.source, active.source->runs.back()); });
}

uint64_t RunsInStreams::overOf(uint32_t index) {
  if (!hasAny()) return 0;
  const std::lock_guard lock(mutex_);
  const auto isOf = [index](const Run& run) { return run.index == index; };
  auto over = static_cast<uint64_t>(std::ranges::count_if(ended_, isOf));
  for (const Prepared::Active& active : active_) {
    over += static_cast<uint64_t>(std::ranges::count_if(
        active.source->runs, [&](const Run& run) { return isOf(run) && isOver(*active.source, run); }));
  }
  return over;
}

/// @param taken gets it in front.
bool RunsInStreams::takeOne(std::list<Run>& taken, dfcclResult_t& status) {
  std::list<Prepared::Active> idle;  // what it holds may go only when the lock is open
  const std::lock_guard lock(mutex_);
  if (!ended_.empty()) {
    status = dfcclAborted;
    taken.splice(taken.begin(), ended_, ended_.begin());
    count_.fetchSub(1, order::seqCst);
    return true;
  }
  const auto found = std::ranges::find_if(
      active_, [](const Prepared::Active& active) { return isOver(*active.source, active.source->runs.front()); });
  if (found == active_.end()) return false;
  Source& source = *found->source;
  const uint64_t firstEnded = source.firstEnded->load(order::acquire);
  status = firstEnded != 0 && source.runs.front().number >= firstEnded ? dfcclAborted : dfcclSuccess;
  taken.splice(taken.begin(), source.runs, source.runs.begin());
  if (source.runs.empty()) idle.splice(idle.begin(), active_, found);
  count_.fetchSub(1, order::seqCst);
  return true;
}

}  // namespace dfccl
