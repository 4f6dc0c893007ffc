#include "host/world/launch_order.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace dfccl::gpu {

LaunchOrder::LaunchOrder(std::vector<Entry> runs, uint32_t mostRuns)
    : runs_(std::move(runs)), mostRuns_(mostRuns), order_(runs_.size()) {
  if (!areOfDistinctMembers()) count();
  std::iota(order_.begin(), order_.end(), 0u);
  const auto placeOf = [this](uint32_t run) {
    const Entry& entry = runs_[run];
    return std::make_tuple(entry.device, entry.stream, entry.occurrence, std::cref(entry.collective), run);
  };
  std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) { return placeOf(a) < placeOf(b); });
  for (uint32_t place = 0; place < order_.size(); ++place) {
    const bool isNew =
        place == 0 || at(place).stream != at(place - 1).stream || at(place).device != at(place - 1).device;
    if (isNew) streams_.push_back({place, place});
    streams_.back().end = place + 1;
  }
  findNext();
}

/// As most batches are, and small ones.
bool LaunchOrder::areOfDistinctMembers() const {
  if (runs_.size() > mostRuns_) return false;
  for (size_t i = 1; i < runs_.size(); ++i) {
    for (size_t before = 0; before < i; ++before) {
      if (runs_[before].member == runs_[i].member) return false;
    }
  }
  return true;
}

void LaunchOrder::count() {
  std::map<const void*, std::pair<uint32_t, const Entry*>> before;
  for (Entry& run : runs_) {
    auto& [runs, last] = before[run.member];
    run.occurrence = runs++;
    run.isBehindOther = last != nullptr && last->stream != run.stream;
    last = &run;
  }
}

uint32_t LaunchOrder::mostSharers() const {
  uint32_t most = 0;
  for (const Stream& stream : streams_) {
    for (uint32_t begin = stream.begin; begin < stream.end;) {
      const uint32_t end = endOfStep(begin, stream.end);
      most = std::max(most, end - begin);
      begin = end;
    }
  }
  return most;
}

/// @pre both are in the same stream
bool LaunchOrder::isSameStep(uint32_t one, uint32_t other) const {
  return at(one).occurrence == at(other).occurrence && at(one).collective == at(other).collective;
}

uint32_t LaunchOrder::endOfStep(uint32_t begin, uint32_t end) const {
  uint32_t next = begin + 1;
  while (next < end && isSameStep(begin, next)) ++next;
  return next;
}

uint32_t LaunchOrder::endOfKernel(const Stream& stream, uint32_t mostMembers) const {
  uint32_t end = endOfStep(stream.begin, stream.end);
  while (end < stream.end) {
    const uint32_t next = endOfStep(end, stream.end);
    bool isBehindOther = false;
    for (uint32_t place = end; place < next; ++place) isBehindOther |= at(place).isBehindOther;
    if (isBehindOther || next - stream.begin > mostRuns_ || membersOf(stream.begin, next) > mostMembers) break;
    end = next;
  }
  return end;
}

uint32_t LaunchOrder::membersOf(uint32_t begin, uint32_t end) const {
  uint32_t members = 0;
  for (uint32_t place = begin; place < end; ++place) {
    uint32_t before = begin;
    while (before < place && at(before).member != at(place).member) ++before;
    members += before == place;
  }
  return members;
}

/// Of all streams, the one whose next run comes first.
void LaunchOrder::findNext() noexcept {
  next_ = nullptr;
  const auto first = [this](const Stream& stream) {
    return std::make_pair(at(stream.begin).occurrence, std::cref(at(stream.begin).collective));
  };
  for (Stream& stream : streams_) {
    if (stream.begin != stream.end && (next_ == nullptr || first(stream) < first(*next_))) next_ = &stream;
  }
}

LaunchOrder::Next LaunchOrder::next() const noexcept {
  const uint32_t fewest = endOfStep(next_->begin, next_->end) - next_->begin;
  return {order_[next_->begin], fewest, membersOf(next_->begin, endOfKernel(*next_, mostRuns_))};
}

std::span<const uint32_t> LaunchOrder::take(uint32_t mostMembers) noexcept {
  Stream& stream = *next_;
  const uint32_t begin = stream.begin;
  stream.begin = endOfKernel(stream, mostMembers);
  const std::span<uint32_t> taken(order_.data() + begin, stream.begin - begin);
  const auto placeOf = [this](uint32_t run) {
    return std::make_tuple(std::cref(runs_[run].collective), runs_[run].member, runs_[run].occurrence);
  };
  std::sort(taken.begin(), taken.end(), [&](uint32_t a, uint32_t b) { return placeOf(a) < placeOf(b); });
  findNext();
  return taken;
}

}  // namespace dfccl::gpu
