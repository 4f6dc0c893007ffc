// A member's runs in one kernel, at one lane: every order in which the lane's own block and the first one may take
// their steps. Each run is done once, in its turn, and both come to an end. The steps are a copy of the blocks', which
// run on GPUs only.
#include <doctest/doctest.h>

#include <deque>
#include <set>
#include <tuple>
#include <vector>

#include "device/captured/captured_lane.cuh"

using namespace dfccl::gpu;

namespace {

constexpr uint32_t kOfLane = 3;
constexpr uint64_t kFirstInStreams = 41;

/// As the blocks have it, step by step: of the words that both use, one a step.
struct Lane {
  enum Own : uint32_t { toCome, atRun, toTell, toLeave, gone };
  enum First : uint32_t { toLook, toTake, inPlace, over };

  explicit Lane(uint32_t before) : number(before), word(uint64_t{before} << 33 | uint64_t{before} << 2) {}

  uint32_t number;  // of the first of the runs
  uint64_t word;
  uint64_t handedOver = 0;
  Own own = toCome;
  uint32_t ownRun = 0;
  bool hasLeft = false;  // the run at which it tells
  First first = toLook;
  uint32_t firstRun = 0;
  bool isLeft = false;  // what the first block does was left to it
  uint32_t done = 0;
  bool isWrong = false;

  auto all() const {
    return std::make_tuple(number, word, handedOver, own, ownRun, hasLeft, first, firstRun, isLeft, done, isWrong);
  }
  bool operator<(const Lane& other) const { return all() < other.all(); }
  bool isOver() const { return own == gone && first == over; }
  uint32_t numberOf(uint32_t run) const { return (number + run) % CapturedTurn::kNumbers; }

  void finish(uint32_t run, CapturedTurn::State state) {
    isWrong |= run != done;
    word += CapturedTurn::ending(numberOf(run), state);
    ++done;
  }
};

/// @param tells the lane's own block says what it hands over
std::vector<Lane> stepsOfOwn(const Lane& from, bool tells) {
  std::vector<Lane> to;
  const auto step = [&](auto change) {
    Lane next = from;
    change(next);
    to.push_back(next);
  };
  switch (from.own) {
    case Lane::toCome:
      step([](Lane& l) {
        const CapturedTurn found(l.word);
        l.word += CapturedTurn::kArrival * kOfLane;
        l.isWrong |= found.arrivals() != l.number;
        l.own = Lane::atRun;
        if (found.isDone(l.number)) {
          l.ownRun = 1;
        } else if (found.state() != CapturedTurn::isFree) {
          l.own = Lane::toTell;
        }
      });
      break;
    case Lane::atRun:
      step([](Lane& l) {
        l.finish(l.ownRun, CapturedTurn::isFree);
        if (++l.ownRun == kOfLane) l.own = Lane::gone;
      });
      step([](Lane& l) {
        l.own = Lane::toTell;
        l.hasLeft = true;
      });
      break;
    case Lane::toTell:
      step([tells](Lane& l) {
        const uint32_t behind = kOfLane - l.ownRun - 1;
        if (tells && behind != 0) l.handedOver = CapturedHandover::wordOf(kFirstInStreams + l.ownRun + 1, behind);
        l.own = l.hasLeft ? Lane::toLeave : Lane::gone;
      });
      break;
    case Lane::toLeave:
      step([](Lane& l) {
        l.word += CapturedTurn::leaving(CapturedTurn::isFree);
        l.own = Lane::gone;
      });
      break;
    case Lane::gone:
      break;
  }
  return to;
}

bool isAbandoned(const Lane& l) {
  const CapturedTurn turn(l.word);
  const bool isHandedOver = l.firstRun != 0 && CapturedHandover(l.handedOver).has(kFirstInStreams + l.firstRun);
  return turn.isTurnOf(l.numberOf(l.firstRun)) && turn.isAbandoned(l.numberOf(l.firstRun), isHandedOver);
}

std::vector<Lane> stepsOfFirst(const Lane& from) {
  std::vector<Lane> to;
  Lane next = from;
  const CapturedTurn turn(from.word);
  const uint32_t number = from.numberOf(from.firstRun);
  switch (from.first) {
    case Lane::toLook:
      if (turn.isDone(number) && turn.hasCome(number)) {
        if (++next.firstRun == kOfLane) next.first = Lane::over;
        to.push_back(next);
      } else if (isAbandoned(from)) {
        next.first = Lane::toTake;
        to.push_back(next);
      }
      break;
    case Lane::toTake:
      next.first = Lane::toLook;
      if (turn.isTurnOf(number) && turn.state() == CapturedTurn::isLeft) {
        next.isLeft = true;
        next.first = Lane::inPlace;
      } else if (isAbandoned(from)) {
        next.isLeft = false;
        next.word = turn.taken();
        next.first = Lane::inPlace;
      }
      to.push_back(next);
      break;
    case Lane::inPlace:
      next.first = Lane::toLook;
      next.finish(from.firstRun, from.isLeft ? CapturedTurn::isLeft : CapturedTurn::isTaken);
      to.push_back(next);
      // Or it waits in vain, and goes to other lanes meanwhile.
      next = from;
      next.first = Lane::toLook;
      next.word += CapturedTurn::leaving(from.isLeft ? CapturedTurn::isLeft : CapturedTurn::isTaken);
      to.push_back(next);
      break;
    case Lane::over:
      break;
  }
  return to;
}

struct Found {
  size_t lanes = 0, over = 0, stuck = 0, wrong = 0;
};

Found explore(uint32_t before, bool tells) {
  Found found;
  std::set<Lane> seen{Lane(before)};
  std::deque<Lane> left(seen.begin(), seen.end());
  for (; !left.empty(); left.pop_front()) {
    const Lane& lane = left.front();
    std::vector<Lane> steps = stepsOfOwn(lane, tells);
    for (const Lane& next : stepsOfFirst(lane)) steps.push_back(next);
    ++found.lanes;
    found.wrong += lane.isWrong || (lane.isOver() && lane.done != kOfLane);
    found.over += lane.isOver();
    found.stuck += steps.empty() && !lane.isOver();
    for (const Lane& next : steps) {
      if (seen.insert(next).second) left.push_back(next);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("of a member's runs in one kernel each is done once, whoever leaves what when") {
  for (const uint32_t before : {0u, 7u, CapturedTurn::kNumbers - 2}) {
    const Found found = explore(before, true);
    CHECK(found.lanes > 50);
    CHECK(found.over != 0);
    CHECK(found.stuck == 0);
    CHECK(found.wrong == 0);
  }
}

TEST_CASE("control: runs that are left and not handed over are nobody's") { CHECK(explore(0, false).stuck != 0); }

TEST_CASE("a handover has its runs, and none beside them") {
  const CapturedHandover handover(CapturedHandover::wordOf(kFirstInStreams, 2));
  CHECK_FALSE(handover.has(kFirstInStreams - 1));
  CHECK(handover.has(kFirstInStreams));
  CHECK(handover.has(kFirstInStreams + 1));
  CHECK_FALSE(handover.has(kFirstInStreams + 2));
  CHECK_FALSE(CapturedHandover(0).has(0));
}
