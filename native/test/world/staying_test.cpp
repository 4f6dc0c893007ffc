// How long a daemon stays once there is nothing left to do.
#include <doctest/doctest.h>

#include <vector>

#include "cpu/cpu_world.hpp"
#include "world/defaults.hpp"

using namespace dfccl;

TEST_CASE("a daemon's idle visits are counted from its last progress, not from the last entry") {
  constexpr uint32_t kIdleVisits = 64;
  constexpr size_t kCount = size_t{16} << 20;  // many more visits than that, in one run
  WorldOptions options;
  options.ranks = 1;
  options.workers = 0;
  options.policy = defaultPolicy(BackendKind::cpu);
  options.policy.quit = {scheduling::QuitKind::voluntary, {}, kIdleVisits, 0, 0};
  CpuWorld world(options);
  CollectiveSpec spec;
  spec.collective = Collective::broadcast;
  spec.type = DataType::uint8;
  spec.count = kCount;
  spec.ranks = {0};
  const uint32_t index = world.registerCollective(0, spec);
  const std::vector<uint8_t> in(kCount, 7);
  std::vector<uint8_t> out(kCount, 0);
  CpuRank& rank = world.rank(0);
  const uint32_t slot = rank.submit(index, in.data(), out.data(), nullptr, nullptr);
  CpuPlatform<> platform;
  uint32_t busy = 0, idle = 0;
  dfcclResult_t status = dfcclAborted;
  for (; !rank.takeCompletion(slot, status); ++busy) rank.step(platform);
  CHECK(status == dfcclSuccess);
  CHECK(out == in);
  REQUIRE(busy > kIdleVisits);
  for (; rank.memory().residency.isResident(); ++idle) rank.step(platform);
  // The leader decides every few visits, of which the last progress was one.
  CHECK(idle > kIdleVisits - CpuPlatform<>::kStepsPerDecision);
}
