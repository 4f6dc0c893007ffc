#include "simulated/slices.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include "simulated/unkindness.hpp"

namespace dfccl::gpu::simulated {
namespace {

constexpr uint64_t kSeats = 32;
constexpr size_t kDevices = 16;

/// A process on a device. Zeros: nobody.
struct Seat {
  std::atomic<int32_t> process;
  std::atomic<int32_t> working;  // pieces of work; written by the process
};

/// Of a device, in the memory that processes share: whose slice it is and since when, in one word, which whoever finds
/// it to be over replaces.
struct Board {
  std::atomic<uint64_t> turn;  // nanoseconds * kSeats + seat
  std::array<Seat, kSeats> seats;
};

Board* mapBoards() {
  const char* const path = std::getenv("SIMULATED_SLICES");
  if (path == nullptr || *path == '\0') return nullptr;
  constexpr size_t kBytes = sizeof(Board) * kDevices;
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, kBytes) != 0) std::abort();
  void* const mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) std::abort();
  close(file);
  return static_cast<Board*>(mapped);
}

Board* boardOf(int device) {
  static Board* const boards = mapBoards();
  return boards != nullptr && static_cast<size_t>(device) < kDevices ? boards + device : nullptr;
}

uint64_t nanos() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

bool isGone(int32_t process) { return kill(process, 0) != 0 && errno == ESRCH; }

/// Takes one.
uint64_t seatAt(Board& board) {
  const int32_t self = getpid();
  for (uint64_t i = 0;; i = (i + 1) % kSeats) {
    Seat& seat = board.seats[i];
    int32_t owner = seat.process.load();
    // It is kept when its process has gone, until another wants it.
    if (owner != 0 && !isGone(owner)) continue;
    if (!seat.process.compare_exchange_strong(owner, self)) continue;
    seat.working.store(0);
    return i;
  }
}

/// Found once a device, because a seat is for good.
uint64_t mySeat(int device, Board& board) {
  static std::array<std::once_flag, kDevices> isFound;
  static std::array<uint64_t, kDevices> seats;
  const auto at = static_cast<size_t>(device);
  std::call_once(isFound[at], [&] { seats[at] = seatAt(board); });
  return seats[at];
}

bool isWorking(const Seat& seat) {
  const int32_t process = seat.process.load();
  return process != 0 && seat.working.load() > 0 && !isGone(process);
}

/// Whether it is this process's slice. Else, or where the slice is over, gives the device to the next that has
/// something to do; also where whoever has it has nothing to do.
bool isMyTurn(Board& board, uint64_t mine) {
  uint64_t turn = board.turn.load();
  const uint64_t holder = turn % kSeats, now = nanos();
  const auto slice = static_cast<uint64_t>(unkindness().sliceMicros.value()) * 1000;
  const bool isOver = now - turn / kSeats >= slice;
  if (!isOver && (holder == mine || isWorking(board.seats[holder]))) return holder == mine;
  for (uint64_t i = 1; i <= kSeats; ++i) {
    const uint64_t next = (holder + i) % kSeats;
    if (!isWorking(board.seats[next])) continue;
    return board.turn.compare_exchange_strong(turn, now * kSeats + next) && next == mine;
  }
  return false;
}

void awaitTurn(int device) {
  Board& board = *boardOf(device);
  const uint64_t mine = mySeat(device, board);
  while (!isMyTurn(board, mine)) usleep(20);
}

thread_local int steppedDevice = -1;

/// When this thread's kernel stepped last, and what it has missed.
struct Steps {
  uint64_t last = 0, paused = 0;

  void note() {
    constexpr uint64_t kPause = 10'000'000;  // no step takes so long
    const uint64_t now = nanos();
    if (last != 0 && now - last > kPause) paused += now - last;
    last = now;
  }
};
thread_local Steps steps;

}  // namespace

AtWork::AtWork(int device) : device_(device) {
  steps = {};
  Board* const board = boardOf(device);
  if (board == nullptr) return;
  board->seats[mySeat(device, *board)].working.fetch_add(1);
  steppedDevice = device;
  awaitTurn(device);
}

AtWork::~AtWork() {
  Board* const board = boardOf(device_);
  if (board == nullptr) return;
  steppedDevice = -1;
  board->seats[mySeat(device_, *board)].working.fetch_sub(1);
}

bool isSliced() { return boardOf(0) != nullptr; }

void step() {
  steps.note();
  if (steppedDevice >= 0) awaitTurn(steppedDevice);
}

uint64_t pausedNanos() { return steps.paused; }

}  // namespace dfccl::gpu::simulated
