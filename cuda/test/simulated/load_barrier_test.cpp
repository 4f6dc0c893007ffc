// A launch that had to load its module lets in whoever waits for the context's lock, and keeps back all that comes
// behind it until what came in is done. As an H200 does it: see README.md.
#include <string>
#include <vector>

#include "simulated/blocked_call.hpp"
#include "simulated/unkindness.hpp"

using namespace dfccl::gpu::simulated;
using namespace dfccl::gpu::simulated::test;

namespace {

constexpr int kLoaded = 0;

/// Not loaded, and of no other file of this program.
int newModule() {
  static int last = 10'000;
  return ++last;
}

using Flag = std::atomic<bool>;
std::function<void()> raise(Flag& flag) {
  return [&flag] { flag = true; };
}

/// All that a stream takes, given to a stream of its own each, and whether it has been done.
class EveryKind {
 public:
  struct Kind {
    const char* name;
    std::function<bool()> isDone;
  };

  void give() {
    REQUIRE(launchUserKernel(newStream(), kLoaded, raise(kernel_)) == cudaSuccess);
    store_.letOpen(newStream());
    const cudaStream_t waits = newStream(), calls = newStream(), records = newStream(), follows = newStream();
    opened_.open();
    opened_.letWait(waits);
    behindWait_.letOpen(waits);
    REQUIRE(cudaMemsetAsync(copied_, 1, 1, copies_) == cudaSuccess);
    REQUIRE(cudaLaunchHostFunc(
                calls, [](void* flag) { *static_cast<Flag*>(flag) = true; }, &called_) == cudaSuccess);
    REQUIRE(cudaEventRecord(event_, records) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(follows, event_, 0) == cudaSuccess);
    behindEvent_.letOpen(follows);
  }
  std::vector<Kind> kinds() const {
    return {{"a kernel", [this] { return kernel_.load(); }},
            {"a store", [this] { return store_.isOpen(); }},
            {"a wait that is over", [this] { return behindWait_.isOpen(); }},
            {"a copy", [this] { return cudaStreamQuery(copies_) == cudaSuccess; }},
            {"a function of the host's", [this] { return called_.load(); }},
            {"an event", [this] { return cudaEventQuery(event_) == cudaSuccess; }},
            {"a wait for an event", [this] { return behindEvent_.isOpen(); }}};
  }

 private:
  static cudaEvent_t newEvent() {
    cudaEvent_t event = nullptr;
    REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
    return event;
  }
  static void* pinned() {
    void* memory = nullptr;
    REQUIRE(cudaMallocHost(&memory, 1) == cudaSuccess);
    return memory;
  }

  Flag kernel_{false}, called_{false};
  Word store_, opened_, behindWait_, behindEvent_;
  void* const copied_ = pinned();
  const cudaStream_t copies_ = newStream();
  const cudaEvent_t event_ = newEvent();
};

/// Two threads: the first launches a kernel of a module that it has to load, for which it waits until the device is
/// idle; the others launch meanwhile, for which they wait for the lock: one a kernel that stays.
class LaunchedWhileItLoads {
 public:
  LaunchedWhileItLoads() {
    REQUIRE(loadModule(kLoaded) == cudaSuccess);
    const cudaStream_t loads = newStream(), stays = newStream(), passes = newStream();
    busy_.letWait(newStream());
    const BlockedCall loading([&] { launchUserKernel(loads, newModule(), raise(loadedRuns_)); });
    CHECK(loading.awaitsIdle());
    const BlockedCall staying([&] { launchUserKernel(stays, kLoaded, stay_.spin()); });
    CHECK(staying.awaitsLock());
    const BlockedCall passing([&] { launchUserKernel(passes, kLoaded, raise(passed_)); });
    CHECK(passing.awaitsLock(2));
    busy_.open();
    CHECK((loading.returns() && staying.returns() && passing.returns()));
  }

  bool loadedRuns() const { return loadedRuns_; }
  bool passed() const { return passed_; }
  void end() { stay_.open(); }

 private:
  // Each stream has a queue of its own: what is looked at is not that they share one.
  const Switched apart_{unkindness().sharedQueues, 0};
  Flag loadedRuns_{false}, passed_{false};
  Word busy_, stay_;
};

/// Long enough for what can be done to be done; where it can't, this says so rightly however long it takes.
constexpr std::chrono::milliseconds kLongEnough{100};

void checkThatAllIsDone(const EveryKind& every) {
  for (const EveryKind::Kind& kind : every.kinds()) {
    CAPTURE(kind.name);
    CHECK(comesToHold(kind.isDone));
  }
}

}  // namespace

TEST_CASE("what is launched while another launch loads its module keeps back that and all that follows") {
  EveryKind every;
  LaunchedWhileItLoads launched;
  every.give();
  CHECK(comesToHold([&] { return launched.passed(); }));  // it came in before, too
  CHECK_FALSE(comesToHold([&] { return launched.loadedRuns(); }, kLongEnough));
  for (const EveryKind::Kind& kind : every.kinds()) {
    CAPTURE(kind.name);
    CHECK_FALSE(kind.isDone());
  }
  launched.end();
  CHECK(comesToHold([&] { return launched.loadedRuns(); }));
  checkThatAllIsDone(every);
}

TEST_CASE("control: with the switch off nothing is kept back") {
  const Switched barrier(unkindness().loadBarrier, 0);
  EveryKind every;
  LaunchedWhileItLoads launched;
  every.give();
  CHECK(comesToHold([&] { return launched.loadedRuns(); }));
  checkThatAllIsDone(every);
  launched.end();
}

TEST_CASE("the first launch of another kernel of a loaded module returns, and is kept back with all that follows") {
  const Switched apart(unkindness().sharedQueues, 0);
  REQUIRE(loadModule(kLoaded) == cudaSuccess);
  static int kernel = 0;
  for (const bool isOn : {true, false}) {
    CAPTURE(isOn);
    const Switched barrier(unkindness().kernelBarrier, isOn ? 1 : 0);
    EveryKind every;
    Flag runs{false}, again{false};
    Word stay;
    REQUIRE(launchUserKernel(newStream(), kLoaded, stay.spin()) == cudaSuccess);
    REQUIRE(launchUserKernel(newStream(), kLoaded, raise(runs), ++kernel) == cudaSuccess);
    every.give();
    CHECK(comesToHold([&] { return runs.load(); }, isOn ? kLongEnough : std::chrono::milliseconds(20'000)) == !isOn);
    for (const EveryKind::Kind& kind : every.kinds()) {
      CAPTURE(kind.name);
      if (isOn) CHECK_FALSE(kind.isDone());
    }
    if (!isOn) checkThatAllIsDone(every);
    stay.open();
    CHECK(comesToHold([&] { return runs.load(); }));
    checkThatAllIsDone(every);
    // From then on it is a kernel like any other.
    Word staysAgain;
    REQUIRE(launchUserKernel(newStream(), kLoaded, staysAgain.spin()) == cudaSuccess);
    REQUIRE(launchUserKernel(newStream(), kLoaded, raise(again), kernel) == cudaSuccess);
    CHECK(comesToHold([&] { return again.load(); }));
    staysAgain.open();
  }
}

TEST_CASE("what is launched when the launch that loads has returned keeps nothing back") {
  const Switched apart(unkindness().sharedQueues, 0);
  REQUIRE(loadModule(kLoaded) == cudaSuccess);
  EveryKind every;
  Flag runs{false};
  Word busy, stay;
  busy.letWait(newStream());
  const cudaStream_t loads = newStream();
  const BlockedCall loading([&] { launchUserKernel(loads, newModule(), raise(runs)); });
  CHECK(loading.awaitsIdle());
  busy.open();
  CHECK(loading.returns());
  REQUIRE(launchUserKernel(newStream(), kLoaded, stay.spin()) == cudaSuccess);
  every.give();
  CHECK(comesToHold([&] { return runs.load(); }));
  checkThatAllIsDone(every);
}

TEST_CASE("a launch of a kernel that is loaded, and a load without a launch, keep nothing back") {
  const Switched apart(unkindness().sharedQueues, 0);
  REQUIRE(loadModule(kLoaded) == cudaSuccess);
  for (const bool loads : {false, true}) {
    CAPTURE(loads);
    EveryKind every;
    Flag runs{false};
    Word busy, stay;
    busy.letWait(newStream());
    void* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, 64) == cudaSuccess);
    const cudaStream_t stays = newStream(), other = newStream();
    // So that both launches wait for the lock.
    const BlockedCall holding([=] { loads ? loadModule(newModule()) : cudaFree(memory); });
    CHECK(holding.awaitsIdle());
    const BlockedCall staying([&] { launchUserKernel(stays, kLoaded, stay.spin()); });
    CHECK(staying.awaitsLock());
    const BlockedCall launching([&] { launchUserKernel(other, kLoaded, raise(runs)); });
    CHECK(launching.awaitsLock(2));
    busy.open();
    CHECK((holding.returns() && staying.returns() && launching.returns()));
    every.give();
    CHECK(comesToHold([&] { return runs.load(); }));
    checkThatAllIsDone(every);
  }
}

TEST_CASE("streams that share queues, or are destroyed, go on when what kept them back is done") {
  LaunchedWhileItLoads launched;
  const Switched shared(unkindness().sharedQueues, 1);
  std::vector<Flag> runs(40);
  for (Flag& flag : runs) {
    const cudaStream_t stream = newStream();
    REQUIRE(launchUserKernel(stream, kLoaded, raise(flag)) == cudaSuccess);
    REQUIRE(launchUserKernel(stream, kLoaded, [] {}) == cudaSuccess);
    REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  }
  const BlockedCall idle([] { cudaDeviceSynchronize(); });
  CHECK(idle.awaitsIdle());
  launched.end();
  CHECK(idle.returns());
  for (const Flag& flag : runs) CHECK(flag);
}

TEST_CASE("a launch that loads its module keeps nothing back where nobody else launches") {
  REQUIRE(loadModule(kLoaded) == cudaSuccess);
  const cudaStream_t stream = newStream(), other = newStream();
  for (int i = 0; i < 100; ++i) {
    REQUIRE(launchUserKernel(i % 2 == 0 ? stream : other, newModule(), [] {}) == cudaSuccess);
    REQUIRE(launchUserKernel(stream, kLoaded, [] {}) == cudaSuccess);
  }
  CHECK(BlockedCall([] { cudaDeviceSynchronize(); }).returns());
}
