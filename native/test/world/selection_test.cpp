// Which program a collective gets: the borders of every rule, and that all that decides is in one table.
#include "world/selection.hpp"

#include <doctest/doctest.h>

#include "world/builtin_programs.hpp"

using namespace dfccl;

namespace {

constexpr uint64_t kKiB = 1 << 10, kMiB = 1 << 20;

SelectionFacts onGpus(Collective collective, uint64_t bytes, uint32_t ranks, uint32_t grid = 64) {
  SelectionFacts facts;
  facts.backend = BackendKind::cuda;
  facts.collective = collective;
  facts.bytes = bytes;
  facts.ranks = ranks;
  facts.grid = grid;
  return facts;
}

Selection direct(uint32_t lanes) { return {ProgramKind::direct, Protocol::simple, lanes}; }
Selection large(uint32_t lanes) { return {ProgramKind::large, Protocol::simple, lanes}; }
Selection exchange(uint32_t lanes) { return {ProgramKind::exchange, Protocol::ll, lanes}; }
Selection connected(uint32_t lanes) { return {ProgramKind::connected, Protocol::simple, lanes}; }

}  // namespace

TEST_CASE("on GPUs, all-reduces are exchanged by LL while that takes less than to meet and to part") {
  const auto chosen = [](uint64_t bytes, uint32_t ranks, uint32_t grid = 64) {
    return select(onGpus(Collective::allReduce, bytes, ranks, grid));
  };
  CHECK(chosen(8, 2) == exchange(1));
  CHECK(chosen(7168, 2) == exchange(1));
  CHECK(chosen(7169, 2) == exchange(4));
  CHECK(chosen(4 * 3584 + 1, 2) == exchange(8));
  CHECK(chosen(240 * kKiB, 2) == exchange(32));
  CHECK(chosen(240 * kKiB + 1, 2) == direct(32));
  CHECK(chosen(144 * kKiB, 2, 17) == exchange(16));
  CHECK(chosen(144 * kKiB + 1, 2, 17) == direct(16));
  CHECK(chosen(96 * kKiB, 4, 17) == exchange(16));
  CHECK(chosen(96 * kKiB + 1, 4, 17) == direct(16));
  CHECK(chosen(64 * kKiB - 1, 8) == exchange(32));
  CHECK(chosen(64 * kKiB, 8) == direct(32));
  CHECK(chosen(4096, 8, 17) == exchange(1));
  CHECK(chosen(8, 64, 17) == exchange(1));
  CHECK(chosen(8, 1) == direct(1));
  CHECK(select(onGpus(Collective::allGather, 8, 2)) == direct(1));
}

TEST_CASE("on GPUs, no all-reduce is exchanged that is larger than one that goes directly") {
  for (const uint32_t grid : {1, 2, 5, 17, 33, 64}) {
    for (uint32_t ranks = 2; ranks <= 64; ++ranks) {
      bool isDirect = false;
      for (uint64_t bytes = 1; bytes <= 512 * kKiB; bytes += 1 + bytes / 16) {
        const ProgramKind kind = select(onGpus(Collective::allReduce, bytes, ranks, grid)).kind;
        CHECK((kind == ProgramKind::direct || !isDirect));
        isDirect = kind == ProgramKind::direct;
      }
      CHECK(isDirect);
    }
  }
}

TEST_CASE("on GPUs, buffers from 16 MiB on have programs for the links alone, but for all-reduces of two") {
  CHECK(select(onGpus(Collective::allReduce, 16 * kMiB, 4)) == large(32));
  CHECK(select(onGpus(Collective::allReduce, 16 * kMiB - 1, 4)) == direct(32));
  CHECK(select(onGpus(Collective::allReduce, 16 * kMiB, 2)) == direct(64));
  CHECK(select(onGpus(Collective::broadcast, 16 * kMiB, 2)) == large(64));
  CHECK(select(onGpus(Collective::allGather, 16 * kMiB, 4)) == direct(64));
  CHECK(select(onGpus(Collective::custom, 16 * kMiB, 4)) == direct(32));
}

TEST_CASE("on GPUs, direct programs take a block below 32 KiB, then 32, and 64 where that was measured to pay") {
  CHECK(select(onGpus(Collective::allToAll, 32 * kKiB - 1, 4)) == direct(1));
  CHECK(select(onGpus(Collective::allToAll, 32 * kKiB, 4)) == direct(32));
  CHECK(select(onGpus(Collective::reduceScatter, 2 * kMiB, 2)) == direct(64));
  CHECK(select(onGpus(Collective::reduceScatter, 2 * kMiB, 4)) == direct(32));
  CHECK(select(onGpus(Collective::reduce, 8 * kMiB - 1, 4)) == direct(32));
  CHECK(select(onGpus(Collective::reduce, 8 * kMiB, 4)) == direct(64));
}

TEST_CASE("on GPUs, a grid that isn't a power of two keeps the rest for the leader") {
  CHECK(select(onGpus(Collective::allToAll, kMiB, 4, 31)) == direct(16));
  CHECK(select(onGpus(Collective::allReduce, 50 * kKiB, 2, 8)) == exchange(8));
  CHECK(lanesOnGpus(Collective::allToAll, kMiB, 4, 31) == 16);
}

TEST_CASE("on GPUs, runs between processes go directly, until their buffers are mapped through slots") {
  SelectionFacts facts = onGpus(Collective::allGather, 8, 2);
  facts.mapsLate = true;
  CHECK(select(facts) == direct(1));
  facts.bytes = 64 * kKiB;
  CHECK(select(facts) == direct(32));
  facts.bytes = 8;
  facts.isCaptured = true;
  CHECK(select(facts) == direct(1));
  facts = onGpus(Collective::allReduce, 8, 2);
  facts.mapsLate = true;
  CHECK(select(facts) == exchange(1));
  facts.bytes = 448 * kKiB;
  CHECK(select(facts) == exchange(32));
  CHECK(selectUntilMapped(kMiB) == connected(1));
  CHECK(selectUntilMapped(kMiB + 1) == connected(2));
  CHECK(selectUntilMapped(4 * kMiB + 1) == connected(4));
}

TEST_CASE("on CPUs, programs are direct, and between machines connected, on four blocks from 1 MiB on") {
  SelectionFacts facts;
  facts.ranks = 4;
  facts.bytes = kMiB;
  CHECK(select(facts) == direct(1));
  facts.spansHosts = true;
  CHECK(select(facts) == connected(4));
  facts.bytes = kMiB - 1;
  CHECK(select(facts) == connected(1));
}

TEST_CASE("between machines few GPUs use more blocks the more a rank sends another") {
  const auto between = [](Collective collective, uint64_t bytes, uint32_t ranks, uint32_t grid) {
    SelectionFacts facts = onGpus(collective, bytes, ranks);
    facts.spansHosts = true;
    facts.grid = grid;
    return select(facts);
  };
  CHECK(between(Collective::sendRecv, 64 * kKiB - 1, 2, 17) == connected(1));
  CHECK(between(Collective::sendRecv, 64 * kKiB, 2, 17) == connected(2));
  CHECK(between(Collective::sendRecv, 128 * kKiB, 2, 17) == connected(4));
  CHECK(between(Collective::sendRecv, kMiB, 2, 17) == connected(8));
  CHECK(between(Collective::sendRecv, kMiB, 2, 3) == connected(2));
  CHECK(between(Collective::allReduce, 64 * kKiB, 2, 17) == connected(1));
  CHECK(between(Collective::allReduce, 128 * kKiB, 2, 17) == connected(2));
  CHECK(between(Collective::allReduce, 256 * kKiB, 2, 17) == connected(4));
  CHECK(between(Collective::allReduce, 64 * kMiB, 2, 17) == connected(4));
  CHECK(between(Collective::allReduce, kMiB - 1, 8, 17) == connected(2));
  CHECK(between(Collective::allReduce, kMiB, 8, 17) == connected(4));
  // As many ranks as that have always used so many.
  CHECK(between(Collective::allReduce, kMiB, 9, 17) == connected(4));
  CHECK(between(Collective::allToAll, kMiB - 1, 9, 17) == connected(1));
}

TEST_CASE("what was chosen is what is built") {
  CollectiveSpec spec;
  spec.ranks = {0, 1};
  const std::vector<uint32_t> hostOf{0, 0};
  CHECK(buildSelected(exchange(4), spec, 1, hostOf) == buildExchangeProgram(2, 1, 4));
  CHECK(buildSelected(direct(2), spec, 1, hostOf) == buildDirectProgram(Collective::allReduce, 2, 1, 0, 2));
}
