// Replays event sequences through the engine's scheduling policies and prints every decision, for the differential test
// of packages/scheduler, which runs the same sequences through the TypeScript policies and compares.
//
// One command a line on stdin, one line of answer each on stdout:
//   layout                                  name and offset of every field of SchedulePolicy
//   policy HEX                              160 digits: the bytes of a SchedulePolicy. "valid" or "invalid"
//   start LENGTH CURSOR PRIORITY...         a stay begins, with the priorities of the tasks in the queue
//   fetch PRIORITY                          a task enters where the order policy says
//   event KIND POSITION                     any other event of the schedule
//   stay NOW                                the quit policy's state begins
//   quit NOW LENGTH FETCHED PROGRESSED ALLSTUCK TRIEDALL
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "scheduling/scheduler.hpp"

using namespace dfccl::scheduling;

namespace {

struct Replay {
  SchedulePolicy policy{};
  ScheduleState state{};
  QuitState quit{};
  std::vector<int32_t> priorities;  // of the queue's tasks, front first
};

void printLayout() {
#define FIELD(name) #name << " " << offsetof(SchedulePolicy, name) << " "
  std::cout << FIELD(version) << FIELD(order.kind) << FIELD(order.fetchEveryVisits) << FIELD(order.fetchWhenStuckVisits)
            << FIELD(order.fetchBatch) << FIELD(order.fetchesPerLap) << FIELD(stickiness.kind)
            << FIELD(stickiness.initialThreshold) << FIELD(stickiness.minimumThreshold)
            << FIELD(stickiness.maximumThreshold) << FIELD(stickiness.perPositionDecrement)
            << FIELD(stickiness.raiseFactor256ths) << FIELD(quit.kind) << FIELD(quit.idleVisits)
            << FIELD(quit.idleTicks) << FIELD(quit.residencyTicks) << FIELD(streams) << "sizeof "
            << sizeof(SchedulePolicy) << "\n";
#undef FIELD
}

void printState(const Replay& replay, const char* outcome) {
  const ScheduleState& s = replay.state;
  std::cout << outcome << " " << s.length << " " << s.cursor << " " << s.current.threshold << " " << s.current.failures
            << " " << s.untriedTurns << " " << s.unstuckTurns << " " << s.visitsSinceFetch << " "
            << s.visitsSinceProgress << " " << s.fetchedThisLap << " " << static_cast<int32_t>(s.urgent) << " "
            << s.isDraining << " " << shouldFetch(replay.policy.order, s) << "\n";
}

void apply(Replay& replay, Event event) {
  const Decision decision = transition(replay.policy, replay.state, event);
  replay.state = decision.state;
  const char outcome[] = {decision.turnEnded ? 'E' : '-', decision.taskChanged ? 'C' : '-',
                          decision.preempted ? 'P' : '-', '\0'};
  printState(replay, outcome);
}

bool readPolicy(const std::string& hex, SchedulePolicy& policy) {
  if (hex.size() != 2 * sizeof(SchedulePolicy)) return false;
  unsigned char bytes[sizeof(SchedulePolicy)];
  for (size_t i = 0; i < sizeof(bytes); ++i) {
    bytes[i] = static_cast<unsigned char>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  }
  std::memcpy(&policy, bytes, sizeof(bytes));
  return isValid(policy);
}

void fetch(Replay& replay, int32_t priority) {
  auto& queue = replay.priorities;
  const auto length = static_cast<uint32_t>(queue.size());
  const uint32_t position = insertPosition(
      replay.policy.order, [&](uint32_t i) { return queue[i]; }, priority, length);
  queue.insert(queue.begin() + position, priority);
  apply(replay, {EventKind::fetched, position});
}

void event(Replay& replay, int kind, uint32_t position) {
  const auto eventKind = static_cast<EventKind>(kind);
  if (eventKind == EventKind::completed) replay.priorities.erase(replay.priorities.begin() + replay.state.cursor);
  if (eventKind == EventKind::removed) replay.priorities.erase(replay.priorities.begin() + position);
  apply(replay, {eventKind, position});
}

void quit(Replay& replay, const QuitEvent& quitEvent) {
  const QuitDecision decision = transition(replay.policy.quit, replay.quit, quitEvent);
  replay.quit = decision.state;
  std::cout << decision.quit << " " << decision.drain << " " << decision.state.startedAt << " "
            << decision.state.activeAt << " " << decision.state.quietVisits << "\n";
}

bool run(Replay& replay, const std::string& line) {
  std::istringstream in(line);
  std::string command;
  in >> command;
  if (command == "layout") {
    printLayout();
  } else if (command == "policy") {
    std::string hex;
    in >> hex;
    std::cout << (readPolicy(hex, replay.policy) ? "valid" : "invalid") << "\n";
  } else if (command == "start") {
    uint32_t length = 0, cursor = 0;
    in >> length >> cursor;
    replay.priorities.assign(length, 0);
    for (int32_t& priority : replay.priorities) in >> priority;
    replay.state = started(replay.policy, length, cursor);
    printState(replay, "---");
  } else if (command == "fetch") {
    int32_t priority = 0;
    in >> priority;
    fetch(replay, priority);
  } else if (command == "event") {
    int kind = 0;
    uint32_t position = 0;
    in >> kind >> position;
    event(replay, kind, position);
  } else if (command == "stay") {
    uint64_t now = 0;
    in >> now;
    replay.quit = startedAt(now);
    std::cout << "stay\n";
  } else if (command == "quit") {
    QuitEvent quitEvent{};
    in >> quitEvent.now >> quitEvent.queueLength >> quitEvent.fetched >> quitEvent.progressed >> quitEvent.allStuck >>
        quitEvent.triedAll;
    quit(replay, quitEvent);
  } else {
    return false;
  }
  return !in.fail();
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  Replay replay;
  std::string line;
  while (std::getline(std::cin, line)) {
    if (!run(replay, line)) {
      std::cerr << "not a command: " << line << "\n";
      return 1;
    }
  }
  return 0;
}
