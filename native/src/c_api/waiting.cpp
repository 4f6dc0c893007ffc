#include "c_api/waiting.hpp"

#include <sched.h>
#include <time.h>

#include <string>
#include <thread>

#include "base/error.hpp"
#include "c_api/why_stalled.hpp"
#include "os/pause.hpp"
#include "os/tick_clock.hpp"

namespace dfccl::c_api {
namespace {

// With a thread for each rank and more threads than cores, whoever this one waits for may need its core: measured, 2
// looks before a yield are best there, 20 where the cores suffice, 64 for a thread alone.
constexpr uint32_t kLooksAlone = 64;
constexpr uint32_t kLooksInCompany = 20;
constexpr uint32_t kLooksInCrowd = 2;
constexpr double kRestAfterMicros = 1000;
constexpr long kRestNanos = 50'000;

uint32_t cores() {
  static const uint32_t count = std::max(1u, std::thread::hardware_concurrency());
  return count;
}

}  // namespace

Waiting::Waiting(std::span<RankContext* const> mine, uint64_t timeoutMicros)
    : mine_(mine), world_(mine.front()->openWorld()) {
  if (timeoutMicros != 0) {
    begin_ = readTicks();
    limitTicks_ = ticksOf(timeoutMicros);
  }
}

Waiting::~Waiting() {
  if (!isEnlisted_) return;
  world_.noteWaiter(-1);
  for (RankContext* context : mine_) world_.noteWaiting(context->number(), -1);
}

// Most waits are over before anybody needs to know of them.
void Waiting::enlist() {
  isEnlisted_ = true;
  for (RankContext* context : mine_) world_.noteWaiting(context->number(), 1);
  world_.noteWaiter(1);
}

bool Waiting::help(bool stepsIdle) {
  Backend& backend = world_.backend();
  bool any = false;
  for (RankContext* context : mine_) any |= context->matching().lookForSenders();
  if (world_.waiters() == (isEnlisted_ ? 1u : 0u)) {
    any |= backend.drive(stepsIdle);
  } else {
    for (RankContext* context : mine_) any |= backend.driveRank(context->number());
    for (uint32_t i = 0; i < backend.activeRanks(); ++i) {
      const uint32_t r = backend.activeRankAt(i);
      if (!world_.isWaitedFor(r)) any |= backend.driveRank(r);
    }
  }
  return any || world_.receivers().lookForSenders();
}

void Waiting::pause() {
  if (!isEnlisted_) return enlist();
  cpuPause();
  // Each of the other processes may wait too, and need a core for it.
  const uint32_t processes = world_.backend().processes();
  const uint32_t waiters = processes > 1 ? processes : world_.waiters();
  const uint32_t looks = waiters <= 1 ? kLooksAlone : waiters <= cores() ? kLooksInCompany : kLooksInCrowd;
  checkLimit();
  const auto restAfter = static_cast<uint64_t>(kRestAfterMicros * ticksPerMicrosecond());
  const IdleLooks::Then then = idle_.next(looks, readTicks, restAfter);
  if (then == IdleLooks::Then::look) return;
  sched_yield();
  if (then == IdleLooks::Then::rest) rest();
}

void Waiting::noteProgress() {
  // While others' runs go on and on, no look is in vain.
  constexpr uint32_t kProgressPerLook = 16;
  idle_.reset();
  if (++progress_ % kProgressPerLook == 0) checkLimit();
}

void Waiting::checkLimit() {
  if (limitTicks_ == 0 || readTicks() - begin_ <= limitTicks_) return;
  std::string text;
  for (RankContext* context : mine_) text += whyStalled(*context, context == mine_.front() ? first_ : 0);
  if (const std::string record = world_.recordTimeout(); !record.empty()) text += " " + record;
  throw Error(dfcclTimeout, "The wait's time is over." + text,
              "Wait again, or give it up: under an id with dfcclAbort, without one with dfcclGroupAbort.");
}

void Waiting::rest() {
  Backend& backend = world_.backend();
  for (RankContext* context : mine_) backend.checkHealth(context->number());
  if (backend.isInOrder()) {
    backend.watch();
    if (const auto report = backend.deadlock()) {
      throw Error(dfcclDeadlock, report->text, "Submit in the same order on every rank, or leave streams at 0.");
    }
  }
  const timespec time{0, kRestNanos};
  nanosleep(&time, nullptr);
}

void refuseInCallback(const RankContext& context) {
  if (!context.queues().isDelivering()) return;
  throw Error(dfcclInUse, "Rank " + std::to_string(context.number()) + " is waited for in a callback of its own.",
              "Wait outside: the callback's run is complete only when it returns.",
              {{"rank", std::to_string(context.number())}});
}

void waitForRuns(std::span<RankContext* const> mine, uint64_t timeoutMicros) {
  for (RankContext* context : mine) refuseInCallback(*context);
  Waiting waiting(mine, timeoutMicros);
  for (;;) {
    uint64_t inFlight = 0;
    uint32_t delivered = 0;
    for (RankContext* context : mine) {
      delivered += context->queues().deliver();
      // First: a receive that isn't open any more is in flight, or over.
      inFlight += context->matching().openReceives();
      inFlight += context->queues().inFlight();
    }
    if (inFlight == 0) return;
    if (delivered != 0 || waiting.help(false)) {
      waiting.noteProgress();
    } else {
      waiting.pause();
    }
  }
}

std::vector<uint32_t> agreeOnSurvivors(RankContext& context, uint64_t timeoutMicros) {
  Backend& backend = context.backend();
  RankContext* const mine[] = {&context};
  Waiting waiting(mine, 0);
  const uint64_t begin = readTicks();
  const uint64_t limit = ticksOf(timeoutMicros);
  for (;;) {
    if (auto survivors = backend.agreeOnSurvivors()) return *survivors;
    const bool isTimeOver = timeoutMicros != 0 && readTicks() - begin > limit;
    const std::vector<uint32_t> awaited = isTimeOver ? backend.awaitedByAgreement() : std::vector<uint32_t>{};
    if (!awaited.empty()) {
      std::string ranks;
      for (const uint32_t rank : awaited) ranks.append(ranks.empty() ? "" : ", ").append(std::to_string(rank));
      throw Error(dfcclTimeout, "The agreement's time is over: rank " + ranks + " didn't come to it, and lives.",
                  "See what they do; call it again, or end those processes.", {{"ranks", ranks}});
    }
    if (waiting.help(false)) {
      waiting.noteProgress();
    } else {
      waiting.pause();
    }
  }
}

void synchronize(RankContext& context) {
  Backend& backend = context.backend();
  const uint32_t rank = context.number();
  if (backend.options().backend == BackendKind::cuda) {
    backend.synchronize(rank, 0);
    return;
  }
  const uint64_t stay = backend.residentStay(rank);
  if (stay == 0) return;
  RankContext* const mine[] = {&context};
  Waiting waiting(mine, 0);
  struct Note {
    Backend& backend;
    uint32_t rank;
    Note(Backend& b, uint32_t r) : backend(b), rank(r) { backend.noteSynchronizing(rank, 1); }
    ~Note() { backend.noteSynchronizing(rank, -1); }
  } note(backend, rank);
  while (!backend.isStayOver(rank, stay)) {
    if (waiting.help()) {
      waiting.noteProgress();
    } else {
      waiting.pause();
    }
  }
}

}  // namespace dfccl::c_api
