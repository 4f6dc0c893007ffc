#include "processes/peer_watch.hpp"

#include <algorithm>
#include <chrono>

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
      silences_(segment_->ranks(), periodMillis_, nowMillis()),
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
    if (segment.isLocal(r)) alarm(segment, r);
  }
}

void PeerWatch::alarm(Segment& segment, uint32_t rank) {
  Atomic<uint32_t>& attention = segment.area(rank).attention;
  attention.fetchAdd(1, order::seqCst);
  sharedFutexWakeAll(&attention.value);
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
  silences_.look(nowMillis());
  bool isAnyGone = false;
  for (uint32_t r = 0; r < segment_->ranks(); ++r) {
    if (!segment_->isLocal(r)) continue;
    auto presence = static_cast<uint32_t>(segment_->presenceOf(r));
    if (r != segment_->rank() && presence == static_cast<uint32_t>(Presence::joined)) {
      const bool isGone = segment_->isProcessGone(r);
      const uint64_t heartbeat = segment_->area(r).heartbeat.load(order::relaxed);
      if (!isGone && silences_.of(r, heartbeat) <= muteMillis_) continue;
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

}  // namespace dfccl
