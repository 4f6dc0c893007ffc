#include "network/proxy.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "os/pause.hpp"
#include "os/tick_clock.hpp"
#include "processes/peer_watch.hpp"

namespace dfccl {
namespace {

constexpr uint64_t kGoodbyeMillis = 5000;
constexpr int kRetryMillis = 1;      // where the segment's lock is taken
constexpr int kAgreeingMillis = 10;  // what ranks of this machine do in an agreement shows in memory only
constexpr int kMostProgress = 16;    // of what comes in, before looking what is to go out
// Where a daemon can't call: how long the proxy goes on looking without a pause when nothing moves, then with a short
// one, then with a longer one, so that a run that waits for hours takes next to nothing of a core. A pause costs
// whoever waits for what comes in it more than its length; so there is none for long where each proxy may have a core.
constexpr uint64_t kHotMicros = 1000, kHotMicrosInCrowd = 100, kWarmMicros = 1'000'000;
constexpr uint32_t kCoresEach = 3;  // the program's, the daemon's or watcher's, and the proxy's
constexpr uint64_t kNapNanos = 50'000, kLongNapNanos = 1'000'000;

}  // namespace

Proxy::Proxy(std::shared_ptr<Network> network, std::shared_ptr<Segment> segment, const TileSizes& tiles,
             uint32_t muteMillis, Hooks hooks)
    : network_(std::move(network)),
      segment_(std::move(segment)),
      directory_(segment_, tiles),
      generations_(segment_),
      rank_(segment_->rank()),
      muteMillis_(muteMillis),
      hooks_(std::move(hooks)),
      presence_(segment_->ranks()),
      agreement_(rank_, network_->hostOf, Acceptor(segment_->decision(), segment_->ballots(), segment_->ranks()),
                 [this](uint32_t rank, const Vote& vote) { queueNote(rank, encode(vote)); },
                 // A silence is noticed at most a beat later.
                 {.noticeMillis = muteMillis_ + muteMillis_ / 4, .seed = std::random_device{}()}),
      lastHeard_(segment_->ranks(), 0) {
  for (auto& presence : presence_) presence.store(static_cast<uint32_t>(Presence::joined), order::relaxed);
  bell_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (bell_ < 0) {
    throw Error(dfcclSystemError, std::string("No descriptor to wait on: ") + std::strerror(errno) + ".",
                "Raise the limit on open files (ulimit -n).", {{"errno", std::to_string(errno)}});
  }
  links_ = std::make_unique<Links>(*network_, rank_, muteMillis, *this);
  farewells_.emplace(*links_);
  for (const uint32_t rank : links_->peers()) {
    // For whoever looks at this machine's memory from outside.
    segment_->area(rank).presence.store(static_cast<uint32_t>(Presence::joined), order::relaxed);
  }
  thread_ = std::thread([this] { run(); });
}

Proxy::~Proxy() {
  stop();
  farewells_.reset();
  links_.reset();
  ::close(bell_);
}

void Proxy::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (isStopping_) return;
    isStopping_ = true;
    stopBy_ = nowMillis() + std::min<uint64_t>(kGoodbyeMillis, muteMillis_);
    for (auto& [key, registration] : registrations_) {
      if (registration->isLeaving || registration->isAway) continue;
      registration->finishedRuns = registration->record->finishedRuns.load(order::acquire);
    }
  }
  notify();
  thread_.join();
}

bool Proxy::spans(const std::vector<uint32_t>& ranks) const {
  return std::any_of(ranks.begin(), ranks.end(), [&](uint32_t r) { return !segment_->isLocal(r); });
}

// The daemon's stores come before this exchange, and the proxy looks for them after its own: whichever is first in the
// order of the two, nothing is missed.
void Proxy::notify() {
  if (state_.exchange(State::notified, order::acqRel) != State::asleep) return;
  const uint64_t one = 1;
  (void)!write(bell_, &one, sizeof one);
}

void Proxy::run() {
  prctl(PR_SET_TIMERSLACK, 1000);  // else a nap is twice as long
  uint32_t locals = 0;
  for (uint32_t r = 0; r < segment_->ranks(); ++r) locals += segment_->isLocal(r) ? 1 : 0;
  const bool isCrowd = std::thread::hardware_concurrency() < kCoresEach * locals;
  hotTicks_ = ticksOf(isCrowd ? kHotMicrosInCrowd : kHotMicros);
  lastLoop_ = nowMillis();
  for (;;) {
    const bool wasNotified = state_.exchange(State::looking, order::acqRel) == State::notified;
    const uint64_t now = nowMillis();
    if (hooks_.mayPublish) isAnyUnderWay_ = hooks_.mayPublish();  // before the look: what comes of it is seen
    const bool hasMoved = work(now);
    {
      const std::lock_guard lock(mutex_);
      if (isStopped_) return;
    }
    if (std::exchange(hasCarried_, false) || wasNotified) movedAt_ = readTicks();
    if (!hasMoved) rest();
  }
}

/// @return whether there may be more to do.
bool Proxy::work(uint64_t now) {
  bool hasMoved = false;
  {
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < kMostProgress && links_->transport().progress(); ++i) hasMoved = true;
    // Whoever has been stopped himself can't tell how long the others have been silent.
    links_->judge(now, now - lastLoop_ < std::max<uint64_t>(muteMillis_ / 2, 2 * links_->beatMillis()));
    lastLoop_ = now;
  }
  hasCarried_ |= handleNotes();
  letRegistrationsGo();
  agree(now);
  {
    const std::lock_guard lock(mutex_);
    hasCarried_ |= moveSlots();
    isAnyBound_ = !registrations_.empty();
    tellProgress(now);
    for (auto& [rank, note] : std::exchange(outbox_, {})) links_->sendNote(rank, std::move(note));
    if (isStopping_) sayGoodbyes();
    farewells_->answer();
    links_->flush(now);
    if (isStopping_ && (farewells_->areOver() || now >= stopBy_)) isStopped_ = true;
  }
  if (std::exchange(hasNews_, false) && hooks_.news) hooks_.news();
  if (std::exchange(hasDelivered_, false)) {
    hooks_.wake();
    hasCarried_ = true;
  }
  return hasMoved || hasCarried_;
}

/// Nothing has moved.
void Proxy::rest() {
  const int millis = isAgreeing() ? kAgreeingMillis : static_cast<int>(links_->beatMillis());
  const uint64_t nanos = static_cast<uint64_t>(inbox_.empty() ? millis : kRetryMillis) * 1'000'000;
  if (!hooks_.mayPublish) return sleep(nanos);
  // The next run often comes soon, and to be asleep costs its submitter a call.
  const uint64_t idle = readTicks() - movedAt_;
  if (idle < hotTicks_) return cpuPause();
  if (isAnyUnderWay_ && idle < ticksOf(kWarmMicros)) return sleep(kNapNanos);
  // Where nothing is bound nothing is published, and whoever binds calls notify().
  if (!isAnyBound_) return sleep(nanos);
  hooks_.sleepers->fetchAdd(1, order::seqCst);
  if (isAnyUnderWay_) {
    sleep(kLongNapNanos);
  } else if (!hooks_.mayPublish()) {
    sleep(nanos);
  }
  hooks_.sleepers->fetchSub(1, order::seqCst);
}

void Proxy::sleep(uint64_t nanos) {
  {
    const std::lock_guard lock(mutex_);
    if (!links_->transport().arm()) return;
  }
  auto looking = static_cast<uint32_t>(State::looking);
  if (!state_.compareExchange(looking, State::asleep, order::acqRel, order::relaxed)) return;
  pollfd polled[2] = {{links_->transport().descriptor(), POLLIN, 0}, {bell_, POLLIN, 0}};
  const timespec limit{static_cast<time_t>(nanos / 1'000'000'000), static_cast<long>(nanos % 1'000'000'000)};
  ppoll(polled, 2, &limit, nullptr);
  uint64_t count;
  if (polled[1].revents != 0) (void)!read(bell_, &count, sizeof count);
}

bool Proxy::moveSlots() {
  bool hasMoved = false;
  for (auto& end : ends_) {
    if (!end || !end->isKnown) continue;
    hasMoved |= end->isSend ? send(*end) : giveCredit(*end);
  }
  return hasMoved;
}

bool Proxy::send(RemoteEnd& end) {
  const uint64_t tail = end.connector.memory->tail.load(order::acquire);
  if (end.moved == tail) return false;
  while (end.moved < tail) {
    const SlotRange slots = end.nextRange(tail);
    end.moved += slots.count;
    end.underWay += slots.count;
    links_->sendSlots(end.rank, end.theirs, slots, end.payloadOf(slots), end.own);
  }
  return true;
}

bool Proxy::giveCredit(RemoteEnd& end) {
  const uint64_t head = end.connector.memory->head.load(order::acquire);
  if (end.moved == head) return false;
  end.moved = head;
  links_->sendCredit(end.rank, end.theirs, head);
  return true;
}

RemoteEnd* Proxy::endOf(EndName name) {
  if (name.number >= ends_.size() || !ends_[name.number]) return nullptr;
  RemoteEnd* const end = ends_[name.number].get();
  return end->own.tag == name.tag ? end : nullptr;
}

void Proxy::receivedSlots(uint32_t from, EndName name, SlotRange slots, std::span<const uint8_t> payload) {
  RemoteEnd* const end = endOf(name);
  // None: of a collective that was aborted here, or isn't registered any more.
  if (end != nullptr && end->rank == from && end->put(slots, payload)) hasDelivered_ = true;
}

void Proxy::receivedCredit(uint32_t from, EndName name, uint64_t freed) {
  RemoteEnd* const end = endOf(name);
  if (end == nullptr || end->rank != from || !end->isSend || freed > end->moved || freed <= end->freed) return;
  end->freed = freed;
  end->free();
  hasDelivered_ = true;
}

void Proxy::sentSlots(EndName own, SlotRange slots) {
  if (own.number >= ends_.size() || !ends_[own.number]) return;
  RemoteEnd& end = *ends_[own.number];
  end.underWay -= slots.count;
  // It has the position's low bits: it is one of those not yet done.
  const uint64_t base = end.done.end();
  const uint64_t first = base + ((slots.first - base) & ((uint64_t{1} << Links::kPositionBits) - 1));
  for (uint64_t position = first; position < first + slots.count; ++position) {
    if (end.done.isAhead(position)) end.done.mark(position);
  }
  end.free();
  hasDelivered_ = true;
}

}  // namespace dfccl
