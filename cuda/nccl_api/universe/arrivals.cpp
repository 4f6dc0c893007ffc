#include "nccl_api/universe/arrivals.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include "nccl_api/universe/failure.hpp"
#include "os/futex.hpp"

namespace dfccl::nccl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kLookMicros = 50'000;  // how often a wait looks whether it was cancelled
constexpr uint32_t kUsualSeconds = 600;

// All of it begins as zero.
struct Seat {
  Atomic<uint32_t> isTaken;
  Atomic<uint32_t> isFilled;
  Arrival arrival;
};
struct Table {
  Atomic<uint32_t> ranks;
  Atomic<uint32_t> come;
  Atomic<uint32_t> isComplete;
  Seat seats[1];  // [ranks]
};

[[noreturn]] void refuseSystem(const std::string& what, int error) {
  throw Failure(ncclSystemError, what + ": " + std::strerror(error) + ".",
                "Ranks meet in /dev/shm: see that it is there, is not full, and is the same for all of them.");
}

void takeSeat(Table& table, uint32_t ranks, int rank, const Arrival& own) {
  uint32_t said = 0;
  if (!table.ranks.compareExchange(said, ranks, order::acqRel, order::acquire) && said != ranks) {
    refuseArgument("This rank makes a communicator of " + std::to_string(ranks) + " ranks, and another rank one of " +
                       std::to_string(said) + " with the same unique id.",
                   "Pass the same number of ranks on all of them.");
  }
  Seat& seat = table.seats[rank];
  uint32_t isTaken = 0;
  if (!seat.isTaken.compareExchange(isTaken, 1, order::acqRel, order::relaxed)) {
    refuseArgument("Rank " + std::to_string(rank) + " of the communicator has come already.",
                   "Give each rank a number of its own, and each communicator a unique id of its own.");
  }
  seat.arrival = own;
  seat.isFilled.store(1, order::release);
}

std::string missing(Table& table, uint32_t ranks) {
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

/// The shared memory of one meeting, mapped here.
class Meeting::Room {
 public:
  const uint32_t ranks;

  Room(const Name& name, uint32_t ranks_)
      : ranks(ranks_), path_("/dev/shm/dfccl-nccl-" + name.text()), bytes_(sizeof(Table) + ranks * sizeof(Seat)) {
    const int descriptor = open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor < 0) refuseSystem("The ranks' meeting can't be opened", errno);
    // Only ever grows, so whoever comes first is not disturbed by the others.
    const int error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes_));
    void* const memory =
        error != 0 ? MAP_FAILED : mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    const int why = error != 0 ? error : errno;
    close(descriptor);
    if (memory == MAP_FAILED) refuseSystem("The system refused memory for the ranks' meeting", why);
    table_ = static_cast<Table*>(memory);
  }
  ~Room() { munmap(table_, bytes_); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  Table& table() { return *table_; }
  void takeNameAway() const { unlink(path_.c_str()); }

 private:
  const std::string path_;
  const size_t bytes_;
  Table* table_ = nullptr;
};

Meeting::Meeting(const Name& name, int ranks, int rank, const Arrival& own)
    : room_(std::make_unique<Room>(name, static_cast<uint32_t>(ranks))) {
  Table& table = room_->table();
  takeSeat(table, room_->ranks, rank, own);
  if (table.come.fetchAdd(1, order::acqRel) + 1 != room_->ranks) return;
  room_->takeNameAway();
  table.isComplete.store(1, order::seqCst);
  sharedFutexWakeAll(&table.isComplete.value);
}
Meeting::~Meeting() = default;
Meeting::Meeting(Meeting&&) noexcept = default;
Meeting& Meeting::operator=(Meeting&&) noexcept = default;

bool Meeting::isComplete() const { return room_->table().isComplete.load(order::acquire) != 0; }
void Meeting::wait(uint32_t micros) const { sharedFutexWait(&room_->table().isComplete.value, 0, micros); }
void Meeting::giveUp() const { room_->takeNameAway(); }

std::vector<Arrival> Meeting::all() const {
  std::vector<Arrival> all;
  for (uint32_t r = 0; r < room_->ranks; ++r) all.push_back(room_->table().seats[r].arrival);
  return all;
}

Failure Meeting::late(uint32_t seconds) const {
  return {ncclTimeout,
          "Of " + std::to_string(room_->ranks) + " ranks these did not come within " + std::to_string(seconds) +
              " s: " + missing(room_->table(), room_->ranks) + ".",
          "See why they don't make the communicator, or allow more time (DFCCL_JOIN_TIMEOUT)."};
}

Failure abortedWhileMade() {
  return {ncclInvalidUsage, "The communicator was aborted while it was being made.", "Make another one."};
}

std::vector<Arrival> meet(const Name& name, int ranks, int rank, const Arrival& own,
                          const std::function<bool()>& isCancelled) {
  if (ranks == 1) return {own};
  const Meeting meeting(name, ranks, rank, own);
  const uint32_t seconds = joinSeconds();
  const Clock::time_point until = Clock::now() + std::chrono::seconds(seconds);
  while (!meeting.isComplete()) {
    if (isCancelled()) {
      meeting.giveUp();
      throw abortedWhileMade();
    }
    if (Clock::now() > until) {
      meeting.giveUp();
      throw meeting.late(seconds);
    }
    meeting.wait(kLookMicros);
  }
  return meeting.all();
}

}  // namespace dfccl::nccl
