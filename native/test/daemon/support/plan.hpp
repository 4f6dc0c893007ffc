#pragma once
// What the application does in one exploration: collectives, and threads that submit them.
#include <cstdint>
#include <optional>
#include <vector>

#include "programs.hpp"
#include "test_world.hpp"

namespace dfccl::test {

struct PlannedCollective {
  CollectiveSpec spec;
  ProgramOf program;  // none: the built-in direct one
  bool isInPlace = false;
  std::optional<RingSizes> rings = std::nullopt;  // its runs' buffers are out of the others' reach, now and then
};

struct Action {
  enum Kind : uint8_t {
    enroll,           // register the collective
    awaitRegistered,  // until all its ranks have
    submit,           // one run of it
    submitBehind,     // ... that begins only when a stream has come to it, which fills its buffers
    arrive,           // the rank's stream that was behind longest comes to its run
    synchronize,      // wait until the daemon that is there now has left
    await,            // wait for this rank's runs of it
    awaitAll,         // wait for all runs of this rank
    unregister,       // wait until that is allowed, and do it
    abort,            // give it up, on all ranks
    awaitQuarantine,  // until the aborted runs' buffers are the application's again
    letStreamWait,    // for this rank's runs of it so far
    freeMemory,       // wait until the device is idle, and keep all daemons there from being started until then
    keepSubmitting,   // until thread `collective` is done, one run of collective 0 after another
  };
  Kind kind;
  uint32_t collective = 0;
};
inline const char* nameOf(Action::Kind kind) {
  static const char* const names[] = {
      "register",    "await registered", "submit",     "submit behind", "arrive",           "synchronize",
      "await",       "await all",        "unregister", "abort",         "await quarantine", "let stream wait",
      "free memory", "keep submitting"};
  return names[kind];
}

/// A thread of one rank's process.
struct AppThread {
  uint32_t rank;
  std::vector<Action> actions;
};

struct Plan {
  WorldShape shape;
  std::vector<PlannedCollective> collectives;
  std::vector<AppThread> threads;
  uint32_t maxPicks = 400'000;         // scheduling decisions; more means that it will never end
  uint32_t patience = 60'000;          // picks without a completion or an action of the application
  bool streamsArrive = true;           // on their own, in any order; else by Action::arrive only
  bool quarantineEndsAtAbort = false;  // mistake: an aborted run's buffers are reused at once
  bool ringsComeBackAtAbort = false;   // mistake: ... or its ring
  int64_t stepBudgetBytes = 0;
  uint64_t togetherBytes = 0;  // up to which the last to arrive executes for all
};

}  // namespace dfccl::test
