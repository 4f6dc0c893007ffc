#include "host/driver/rank_requests.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

#include "host/driver/memory.hpp"
#include "os/pause.hpp"

namespace dfccl::gpu {
namespace {

// Of one request: so that several fit.
constexpr size_t kPiece = 128 << 10;
constexpr uint32_t kLooksPerNap = 1000;

uint64_t addressOf(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

}  // namespace

RankRequests::RankRequests(PinnedMemory& pinned, ControlRing& ring, std::function<void()> wake,
                           std::function<bool()> isOver)
    : ring_(ring), bytes_(pinned.take(kBytes)), wake_(std::move(wake)), isOver_(std::move(isOver)) {}

void RankRequests::abort(uint32_t collective) {
  const std::lock_guard lock(mutex_);
  put({ControlRequest::abort, collective});
  wake_();
}

void RankRequests::forget(const IndexTable::Entry& place) {
  const std::lock_guard lock(mutex_);
  put({ControlRequest::forget, place.index, place.firstTask, place.blockCount});
}

uint64_t RankRequests::copy(void* to, const void* from, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto* source = static_cast<const uint8_t*>(from);
  for (size_t done = 0; done < bytes; done += kPiece) {
    const size_t piece = std::min(kPiece, bytes - done);
    uint8_t* const lent = lend(piece);
    if (lent == nullptr) break;
    std::memcpy(lent, source + done, piece);
    ControlRequest request{ControlRequest::copy};
    request.to = addressOf(to) + done;
    request.from = addressOf(lent);
    request.bytes = piece;
    if (!put(request)) break;
  }
  return ring_.tail.load(order::relaxed);
}

uint64_t RankRequests::clear(void* to, size_t bytes) {
  const std::lock_guard lock(mutex_);
  ControlRequest request{ControlRequest::clear};
  request.to = addressOf(to);
  request.bytes = bytes;
  put(request);
  return ring_.tail.load(order::relaxed);
}

bool RankRequests::show(void* to, const void* from, size_t bytes) {
  const std::lock_guard lock(mutex_);
  for (size_t done = 0; done < bytes; done += kPiece) {
    const size_t piece = std::min(kPiece, bytes - done);
    uint8_t* const lent = lend(piece);
    if (lent == nullptr) return false;
    ControlRequest request{ControlRequest::show};
    request.to = addressOf(lent);
    request.from = addressOf(from) + done;
    request.bytes = piece;
    if (!put(request)) return false;
    wake_();
    const uint64_t position = ring_.tail.load(order::relaxed);
    if (!await([&] { return ring_.head.load(order::acquire) >= position; })) return false;
    std::memcpy(static_cast<uint8_t*>(to) + done, lent, piece);
  }
  return true;
}

bool RankRequests::put(const ControlRequest& request) {
  if (ring_.isFull() && !await([this] { return !ring_.isFull(); })) return false;
  ring_.put(request, order::seqCst);
  return true;
}

/// Room for the next request's bytes, in one piece. @return nullptr: the rank takes no requests any more.
uint8_t* RankRequests::lend(size_t bytes) {
  const uint64_t size = (bytes + 15) / 16 * 16;
  // What doesn't fit behind the last goes to the beginning.
  const uint64_t rest = kBytes - lentEnd_ % kBytes;
  const uint64_t begin = rest < size ? lentEnd_ + rest : lentEnd_;
  const auto hasRoom = [&] {
    while (!lent_.empty() && lent_.front().position < ring_.head.load(order::acquire)) {
      lentBegin_ = lent_.front().end;
      lent_.pop_front();
    }
    return begin + size - lentBegin_ <= kBytes || lent_.empty();
  };
  if (!hasRoom() && !await(hasRoom)) return nullptr;
  lentEnd_ = begin + size;
  lent_.push_back({ring_.tail.load(order::relaxed), lentEnd_});
  return bytes_ + begin % kBytes;
}

bool RankRequests::await(const std::function<bool()>& isTrue) const {
  wake_();
  for (uint32_t look = 1; !isTrue(); ++look) {
    if (isOver_()) return false;
    if (look % kLooksPerNap == 0) {
      std::this_thread::yield();
    } else {
      cpuPause();
    }
  }
  return true;
}

}  // namespace dfccl::gpu
