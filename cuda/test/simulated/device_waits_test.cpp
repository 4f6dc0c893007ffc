// When daemons begin to stay for a wait of a stream's: before the stream has it, where giving it one waits for nobody.
#include "host/rank/device_waits.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "host/rank/gpu_rank.hpp"
#include "simulated/blocked_call.hpp"
#include "support.hpp"
#include "world/defaults.hpp"

using namespace dfccl;
using namespace dfccl::gpu;
using namespace dfccl::gpu::test;

namespace {

constexpr uint32_t kPlace = 0;  // of the first rank of this process on the device

/// What is awaited while a stream is given a wait for one run of a collective.
uint32_t awaitedMeanwhile(DeviceWaits& waits, uint32_t index, bool isFree) {
  uint32_t meanwhile = 0;
  waits.letWait(kPlace, index, 1, nullptr, isFree, [&](WaitNote*) { meanwhile = waits.awaitedOf(kPlace, index); });
  CHECK(waits.awaitedOf(kPlace, index) == 1);
  waits.completedOf(kPlace)[index].store(1, order::release);  // or the daemon would stay for it for ever
  return meanwhile;
}

}  // namespace

// A daemon that is launched behind a wait may stand behind it in a hardware queue: seeds 138, 321, 720 and 1304 of the
// random programs, with preempted threads.
TEST_CASE("daemons stay for a wait before a stream has it, unless giving it takes the driver") {
  const GpuRanks ranks(1);
  const std::shared_ptr<DeviceWaits> waits = DeviceWaits::of(0);
  CHECK(awaitedMeanwhile(*waits, 1, true) == 1);
  CHECK(awaitedMeanwhile(*waits, 2, false) == 0);
}

TEST_CASE("a wait's note is another's only when the wait is over") {
  WaitNotes notes;
  std::vector<WaitNote*> taken;
  while (WaitNote* const note = notes.take()) taken.push_back(note);
  CHECK(taken.size() == 16'384);
  taken[5]->isRetracted.store(1, order::relaxed);
  CHECK(notes.take() == nullptr);
  taken[5]->isOver.store(1, order::release);
  CHECK(notes.take() == taken[5]);
  CHECK(taken[5]->isRetracted.load(order::relaxed) == 0);
}

// Runs that took 0.4 s each kept a question without an answer for more than the 2 s, counted from the call: seed 7 of
// the random programs with SIMULATED_DEVICES=1, on a busy machine.
TEST_CASE("a doubt begins anew with each run that is over") {
  Doubt doubt(100, 5);
  CHECK_FALSE(doubt.isLongerThan(10, 110, 5));
  CHECK_FALSE(doubt.isLongerThan(10, 115, 6));
  CHECK_FALSE(doubt.isLongerThan(10, 125, 6));
  CHECK(doubt.isLongerThan(10, 126, 6));
}

// Streams' waits looked at the memory of a rank that could not be made: a crash, where something else lay there by
// then.
TEST_CASE("a rank that can't be made is nobody that streams' waits look at") {
  const std::shared_ptr<DeviceWaits> waits = DeviceWaits::of(0);
  Bell bell;
  GpuRankOptions tooLarge;
  tooLarge.limits = defaultOptions(BackendKind::cuda).limits;
  tooLarge.arenaBytes = size_t{1} << 50;
  for (uint32_t i = 0; i <= DeviceAwaited::kMostRanks; ++i)
    CHECK_THROWS_AS(GpuRank(0, 0, tooLarge, bell), const Error&);
  CHECK(waits->obstacle() == nullptr);
  // Nor do they hold the places that ranks have in the tables.
  const DeviceWaits::RankEntry place(*waits);
  CHECK(place.number() == 0);
}

// The stream that keeps the device from being idle may wait for a run that comes behind such a wait in the program.
TEST_CASE("a rank that is being made while another thread has the driver keeps no stream from being given a wait") {
  const OnDevice here(0);
  const std::shared_ptr<DeviceWaits> waits = DeviceWaits::of(0);
  constexpr int kBusyModule = 4721, kNewModule = 4722;
  REQUIRE(simulated::loadModule(kBusyModule) == cudaSuccess);
  simulated::test::Word word;
  REQUIRE(simulated::launchUserKernel(simulated::test::newStream(), kBusyModule, word.spin()) == cudaSuccess);
  {
    const simulated::test::BlockedCall load([] { simulated::loadModule(kNewModule); });
    CHECK(load.awaitsIdle());
    const simulated::test::BlockedCall making([&] { const DeviceWaits::RankEntry entry(*waits); });
    CHECK(making.awaitsLock());
    const simulated::test::BlockedCall asking([&] { waits->obstacle(); });
    CHECK(asking.returns());
    word.open();
  }
}
