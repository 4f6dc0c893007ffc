// A registration for which memory runs out leaves nothing behind, wherever it does.
#include <doctest/doctest.h>

#include <sched.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include "network/support/first_rank.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr uint64_t kNever = UINT64_MAX;
thread_local uint64_t allocationsLeft = kNever;  // of this thread, until one fails; only that one does

CollectiveSpec specOfAll() {
  CollectiveSpec spec;
  spec.count = 100;
  spec.ranks = allRanks(kRanks);
  return spec;
}

/// Registers it while one allocation fails, behind so many that don't, and again where that was refused.
/// @param isPastAll gets whether fewer were made.
uint32_t registerDespite(CpuWorld& world, const CollectiveSpec& spec, uint64_t allocations, bool& isPastAll) {
  std::optional<uint32_t> index;
  allocationsLeft = allocations;
  try {
    index = world.registerCollective(0, spec);
  } catch (const std::bad_alloc&) {
    // Some pieces can be done without.
  }
  isPastAll = std::exchange(allocationsLeft, kNever) != kNever;
  if (!index) REQUIRE_NOTHROW(index = world.registerCollective(0, spec));
  CHECK_FALSE(world.isAborted(0, *index));
  return *index;
}

}  // namespace

// Not inlined: the compiler would take what one of them calls for a mismatch with the other.
[[gnu::noinline]] void* operator new(size_t bytes) {
  const bool fails = allocationsLeft != kNever && allocationsLeft-- == 0;
  void* const memory = fails ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

TEST_CASE("a registration that failed for want of memory can be made again, whichever piece it was") {
  FirstRank own;
  CpuWorld& world = own.world();
  CollectiveSpec spec = specOfAll();
  uint64_t failures = 0;
  for (bool isPastAll = false; !isPastAll; ++failures) {
    CAPTURE(failures);
    // Another id each time, so that the next one takes as many pieces.
    spec.id = static_cast<uint32_t>(failures);
    world.unregisterCollective(0, registerDespite(world, spec, failures, isPastAll), 0);
  }
  CHECK(failures > 50);
}

TEST_CASE("a rank for which memory runs out on its way back to a registration is away from it still") {
  FirstRank own;
  CpuWorld& world = own.world();
  CollectiveSpec spec = specOfAll();
  std::optional<Announcement> others;
  uint64_t failures = 0;
  for (bool isPastAll = false; !isPastAll; ++failures) {
    CAPTURE(failures);
    spec.id = CollectiveId::ofSignature(7, failures + 1);
    uint32_t index = world.registerCollective(0, spec);
    if (!others) others = own.announced();
    others->spec.id = spec.id;
    others->coming = failures + 1;
    for (const uint32_t rank : {1u, 2u}) own.hear(rank, encode(*others));
    const auto hasCome = [&](uint32_t rank) { return world.explain(0, index)[rank].registered; };
    while (!hasCome(1) || !hasCome(2)) sched_yield();
    world.unregisterCollective(0, index, 0, Departure::forNow);
    index = registerDespite(world, spec, failures, isPastAll);
    CHECK((hasCome(1) && hasCome(2)));
    world.unregisterCollective(0, index, 0);
  }
  CHECK(failures > 10);
}
