#include "processes/peer_watch.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "os/futex.hpp"

namespace dfccl {
namespace {

// A look costs a system call for every other process.
constexpr uint32_t kShortestPeriodMillis = 10;
constexpr uint32_t kLongestPeriodMillis = 100;
constexpr uint32_t kRetryMillis = 5;  // where a check was not to be had

}  // namespace

uint64_t nowMillis() {
  using namespace std::chrono;
  return static_cast<uint64_t>(duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count());
}

PeerWatch::PeerWatch(std::shared_ptr<Segment> segment, uint32_t muteMillis, std::function<bool()> check,
                     std::function<void()> note)
    : segment_(std::move(segment)),
      muteMillis_(muteMillis),
      periodMillis_(std::clamp(muteMillis / 8, kShortestPeriodMillis, kLongestPeriodMillis)),
      check_(std::move(check)),
      note_(std::move(note)),
      lastLookMillis_(nowMillis()),
      seen_(segment_->ranks(), {0, lastLookMillis_}),
      thread_([this] { run(); }) {}

PeerWatch::~PeerWatch() {
  stopping_.store(1, order::seqCst);
  Atomic<uint32_t>& attention = segment_->area(segment_->rank()).attention;
  attention.fetchAdd(1, order::seqCst);
  sharedFutexWakeAll(&attention.value);
  thread_.join();
}

void PeerWatch::alarm(Segment& segment) {
  for (uint32_t r = 0; r < segment.ranks(); ++r) {
    if (!segment.isLocal(r)) continue;
    Atomic<uint32_t>& attention = segment.area(r).attention;
    attention.fetchAdd(1, order::seqCst);
    sharedFutexWakeAll(&attention.value);
  }
}

void PeerWatch::run() {
  RankArea& own = segment_->area(segment_->rank());
  uint32_t seenAttention = 0;
  bool isCheckDue = false;
  while (stopping_.load(order::seqCst) == 0) {
    own.heartbeat.fetchAdd(1, order::relaxed);
    const uint32_t attention = own.attention.load(order::seqCst);
    if (look() || attention != seenAttention) isCheckDue = true;
    if (isCheckDue) isCheckDue = !check_();
    note_();
    seenAttention = attention;
    sharedFutexWait(&own.attention.value, attention, (isCheckDue ? kRetryMillis : periodMillis_) * 1000);
  }
}

/// @return whether some rank is gone.
bool PeerWatch::look() {
  const uint64_t now = nowMillis();
  // Where this process itself has been stopped, alone or with its whole job, it can't tell how long the others have
  // been silent: they may be going on only after it. So what a look comes late by doesn't count.
  const uint64_t gap = now - std::exchange(lastLookMillis_, now);
  const uint64_t late = gap > periodMillis_ ? gap - periodMillis_ : 0;
  bool isAnyGone = false;
  for (uint32_t r = 0; r < segment_->ranks(); ++r) {
    if (!segment_->isLocal(r)) continue;
    auto presence = static_cast<uint32_t>(segment_->presenceOf(r));
    if (r != segment_->rank() && presence == static_cast<uint32_t>(Presence::joined)) {
      const bool isGone = segment_->isProcessGone(r);
      if (!isGone && !isMute(r, now, late)) continue;
      const auto becomes = static_cast<uint32_t>(isGone ? Presence::died : Presence::mute);
      if (segment_->area(r).presence.compareExchange(presence, becomes, order::acqRel, order::acquire)) {
        segment_->stopAwaitingPeers(r);
        alarm(*segment_);
      }
      isAnyGone = true;
    } else if (presence != static_cast<uint32_t>(Presence::joined)) {
      // The rank itself too: others have given it up while it was stopped.
      isAnyGone = true;
    }
  }
  return isAnyGone;
}

bool PeerWatch::isMute(uint32_t rank, uint64_t now, uint64_t late) {
  Seen& seen = seen_[rank];
  const uint64_t heartbeat = segment_->area(rank).heartbeat.load(order::relaxed);
  if (heartbeat != seen.heartbeat) {
    seen = {heartbeat, now};
    return false;
  }
  seen.sinceMillis += late;
  return now - seen.sinceMillis > muteMillis_;
}

}  // namespace dfccl
