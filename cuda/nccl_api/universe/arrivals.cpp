#include "nccl_api/universe/arrivals.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

#include "nccl_api/universe/failure.hpp"
#include "nccl_api/universe/meeting_room.hpp"
#include "os/futex.hpp"

namespace dfccl::nccl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kLookMicros = 50'000;  // how often a wait looks whether it was cancelled
constexpr uint32_t kUsualSeconds = 600;

/// @return false: it is taken already.
bool takeSeat(MeetingTable& table, uint32_t ranks, int rank, uint32_t seconds, const Arrival& own) {
  uint32_t said = 0;
  if (!table.ranks.compareExchange(said, ranks, order::acqRel, order::acquire) && said != ranks) {
    refuseArgument("This rank makes a communicator of " + std::to_string(ranks) + " ranks, and another rank one of " +
                       std::to_string(said) + " with the same unique id.",
                   "Pass the same number of ranks on all of them.");
  }
  MeetingSeat& seat = table.seats[rank];
  uint32_t isTaken = 0;
  if (!seat.isTaken.compareExchange(isTaken, 1, order::acqRel, order::relaxed)) return false;
  seat.seconds.store(seconds, order::relaxed);
  seat.arrival = own;
  seat.isFilled.store(1, order::release);
  return true;
}

std::string missing(MeetingTable& table, uint32_t ranks) {
  std::string list;
  for (uint32_t r = 0; r < ranks; ++r) {
    if (table.seats[r].isFilled.load(order::acquire) == 0) list += (list.empty() ? "" : ", ") + std::to_string(r);
  }
  return list;
}

}  // namespace

uint32_t joinSeconds() {
  constexpr long kMost = UINT32_MAX / 1000;
  const char* const said = std::getenv("DFCCL_JOIN_TIMEOUT");
  const long seconds = said == nullptr ? 0 : std::strtol(said, nullptr, 10);
  return seconds > 0 ? static_cast<uint32_t>(std::min(seconds, kMost)) : kUsualSeconds;
}

Meeting::Meeting(const Name& name, int ranks, int rank, uint32_t seconds, const Arrival& own)
    : room_(std::make_unique<MeetingRoom>(name, static_cast<uint32_t>(ranks), seconds)),
      rank_(rank),
      seconds_(seconds) {
  const bool isTaken = !takeSeat(room_->table(), room_->ranks, rank, seconds, own);
  if (!isTaken && room_->isLastToCome()) room_->decide(MeetingOutcome::complete, rank);
  isComplete();
  if (!isTaken) return;
  refuseArgument("Rank " + std::to_string(rank) + " of the communicator has come already.",
                 "Give each rank a number of its own, and each communicator a unique id of its own.");
}
Meeting::~Meeting() = default;
Meeting::Meeting(Meeting&&) noexcept = default;
Meeting& Meeting::operator=(Meeting&&) noexcept = default;

bool Meeting::isComplete() const {
  const uint32_t outcome = room_->table().outcome.load(order::acquire);
  switch (MeetingOutcome::kindOf(outcome)) {
    case MeetingOutcome::givenUp:
      throw Failure(ncclRemoteError,
                    "Rank " + std::to_string(MeetingOutcome::rankOf(outcome)) +
                        " gave the communicator up while it was being made.",
                    "See what that rank says, and make another one.");
    case MeetingOutcome::timeOver:
      throw late(MeetingOutcome::rankOf(outcome));
    default:
      return MeetingOutcome::kindOf(outcome) == MeetingOutcome::complete;
  }
}

void Meeting::wait(uint32_t micros) const {
  sharedFutexWait(&room_->table().outcome.value, MeetingOutcome::open, micros);
}

void Meeting::giveUp(const Name& name, int ranks, int rank) {
  const uint32_t seconds = joinSeconds();
  MeetingRoom room(name, static_cast<uint32_t>(ranks), seconds);
  // First, so that it isn't complete for a moment.
  room.decide(MeetingOutcome::givenUp, rank);
  if (takeSeat(room.table(), room.ranks, rank, seconds, {})) room.isLastToCome();
}

void Meeting::giveUp() const {
  room_->keepFor(seconds_);
  room_->decide(MeetingOutcome::givenUp, rank_);
}

void Meeting::end() const {
  if (room_->decide(MeetingOutcome::timeOver, rank_)) room_->takeNameAway();
}

std::vector<Arrival> Meeting::all() const {
  std::vector<Arrival> all;
  for (uint32_t r = 0; r < room_->ranks; ++r) all.push_back(room_->table().seats[r].arrival);
  return all;
}

Failure Meeting::late(int rank) const {
  MeetingTable& table = room_->table();
  const std::string seconds = std::to_string(table.seats[rank].seconds.load(order::relaxed)) + " s";
  const std::string absent = missing(table, room_->ranks);
  const std::string all = std::to_string(room_->ranks) + " ranks";
  return {ncclTimeout,
          absent.empty()
              ? "Some of " + all + " came when rank " + std::to_string(rank) + " had waited for " + seconds + "."
              : "Of " + all + " these did not come within " + seconds + ": " + absent + ".",
          "See why they don't make the communicator, or allow more time (DFCCL_JOIN_TIMEOUT)."};
}

Failure abortedWhileMade() {
  return {ncclInvalidUsage, "The communicator was aborted while it was being made.", "Make another one."};
}

std::vector<Arrival> meet(const Name& name, int ranks, int rank, const Arrival& own,
                          const std::function<bool()>& isCancelled) {
  if (ranks == 1) return {own};
  const uint32_t seconds = joinSeconds();
  const Meeting meeting(name, ranks, rank, seconds, own);
  const Clock::time_point until = Clock::now() + std::chrono::seconds(seconds);
  while (!meeting.isComplete()) {
    if (isCancelled()) {
      meeting.giveUp();
      throw abortedWhileMade();
    }
    if (Clock::now() > until) meeting.end();
    meeting.wait(kLookMicros);
  }
  return meeting.all();
}

}  // namespace dfccl::nccl
