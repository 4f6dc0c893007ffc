// A thread that has CUDA's driver to itself until the device is idle is the normal state of a program that trains
// (rules S6 and S7 of the design of streams): what the host tells a rank's device, and what it asks about it, waits for
// nobody meanwhile.
#include <doctest/doctest.h>

#include "host/rank/gpu_rank.hpp"
#include "simulated/blocked_call.hpp"
#include "support.hpp"
#include "world/defaults.hpp"

using namespace dfccl;
using namespace dfccl::gpu;
using namespace dfccl::gpu::test;
using dfccl::gpu::simulated::test::BlockedCall;

namespace {

/// A device with something to do, and a thread that keeps the driver until it is done.
class HeldDriver {
 public:
  HeldDriver() {
    constexpr int kBusyModule = 4731, kNewModule = 4732;
    REQUIRE(simulated::loadModule(kBusyModule) == cudaSuccess);
    REQUIRE(simulated::launchUserKernel(simulated::test::newStream(), kBusyModule, word_.spin()) == cudaSuccess);
    load_.emplace([] { simulated::loadModule(kNewModule); });
    CHECK(load_->awaitsIdle());
  }
  ~HeldDriver() { letGo(); }
  void letGo() { word_.open(); }

 private:
  simulated::test::Word word_;
  std::optional<BlockedCall> load_;
};

}  // namespace

TEST_CASE("a rank's memory on its device is not read or written through CUDA once it is open") {
  Bell bell;
  GpuRankOptions options;
  options.limits = defaultOptions(BackendKind::cuda).limits;
  GpuRank rank(0, 0, options, bell);
  uint64_t word = 5;
  uint8_t* const memory = rank.arena().allocate(sizeof word);
  CHECK_THROWS_WITH_AS(rank.arena().write(memory, &word, sizeof word),
                       doctest::Contains("not read or written through CUDA"), const Error&);
  CHECK_THROWS_AS(rank.arena().read(&word, memory, sizeof word), const Error&);
}

TEST_CASE("what the host tells a device, and asks of a rank, waits for nobody who has the driver") {
  const OnDevice here(0);
  Bell bell;
  GpuRankOptions options;
  options.limits = defaultOptions(BackendKind::cuda).limits;
  GpuRank rank(0, 0, options, bell);
  DeviceArena open(0, size_t{1} << 20);
  const uint64_t word = 5;
  uint8_t* const own = rank.arena().allocate(sizeof word);
  uint8_t* const other = open.allocate(sizeof word);
  HeldDriver held;
  const BlockedCall storing([&] { rank.arena().store(own, &word, sizeof word); });
  CHECK(storing.returns());
  const BlockedCall aborting([&] { rank.askToDrop(0); });
  CHECK(aborting.returns());
  const BlockedCall asking([&] {
    rank.describe();
    rank.readCounters();
    rank.readRankCounters();
    rank.runsPosted();
  });
  CHECK(asking.returns());
  // The control: as it was done before.
  const BlockedCall writing([&] { open.write(other, &word, sizeof word); });
  CHECK(writing.awaitsLock());
  held.letGo();
}
