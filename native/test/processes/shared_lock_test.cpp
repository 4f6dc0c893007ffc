// The lock that the processes of a world share, and those who wait for it while others die.
#include <doctest/doctest.h>
#include <sched.h>

#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include "processes/shared_lock.hpp"
#include "processes/support/processes.hpp"
#include "processes/support/shared_board.hpp"
#include "processes/support/shared_count.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

/// This thread, and what it forks from now on, runs on the processor that it is on now.
void stayOnThisProcessor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
}

/// From now on this process runs only where nobody else wants to: to wake it doesn't stop its waker.
void giveWay() {
  const sched_param none{};
  if (sched_setscheduler(0, SCHED_IDLE, &none) != 0) throw std::runtime_error("SCHED_IDLE is refused");
}

/// Waits until a child sleeps, or has ended. Nothing tells of the one, so both are asked again and again.
void awaitSleep(pid_t child) {
  for (char state = 0; state != 'S' && state != 'Z'; sched_yield()) {
    std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
    std::string pid, name;
    stat >> pid >> name >> state;
  }
}

struct Board {
  SharedLock lock;
  SharedCount wanting;
};

/// Two processes sleep for the lock, and the one that it is given to dies before it runs, when another has the lock.
/// @return how the other one ended; nothing where the first was too quick and had the lock.
std::optional<int> endOfSecond() {
  const SharedBoard<Board> board;
  board->lock.init();
  board->lock.take(0);
  const auto want = [&](uint32_t) {
    board->wanting.add(1);
    board->lock.take(1);
    board->lock.giveBack();
    return kFine;
  };
  Processes first(1, [&](uint32_t rank) {
    giveWay();
    return want(rank);
  });
  REQUIRE(board->wanting.await(1));
  awaitSleep(first[0]);
  Processes second(1, want);
  REQUIRE(board->wanting.await(2));
  awaitSleep(second[0]);
  board->lock.giveBack();
  const bool isBefore = board->lock.tryTake(0) == SharedLock::Taken::asLeft;
  first.send(0, SIGKILL);
  if (first.join(0) != -SIGKILL || !isBefore) return {};
  board->lock.giveBack();
  return second.join(0);
}

}  // namespace

TEST_CASE("who waits for the lock has it too when the one that was woken dies before it runs") {
  stayOnThisProcessor();
  std::optional<int> end;
  for (int i = 0; i < 1000 && !end; ++i) end = endOfSecond();
  REQUIRE(end.has_value());
  CHECK(*end == kFine);
}
