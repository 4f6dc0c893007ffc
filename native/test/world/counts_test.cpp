// Runs that bring their counts, by programs of one's own: what moves through connectors, in several blocks, with
// dependencies between them; and what can't serve several counts.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "base/error.hpp"
#include "cpu/cpu_world.hpp"
#include "daemon/support/programs.hpp"
#include "world/builtin_programs.hpp"
#include "world/connected_programs.hpp"
#include "world/defaults.hpp"

using namespace dfccl;
using test::ProgramOf;

namespace {

constexpr uint32_t kRanks = 3;

WorldOptions options(uint32_t grid) {
  WorldOptions o = defaultOptions(BackendKind::cpu);
  o.ranks = kRanks;
  o.workers = 0;
  o.limits.grid = grid;
  o.limits.collectives = o.limits.submissionSlots = o.limits.completionSlots = 64;
  o.limits.tasks = 128;
  o.arenaBytes = size_t{64} << 20;
  // Many tiles of few elements.
  o.tiles.slotPayloadBytes = 256;
  o.tiles.directTileBytes = 512;
  o.tiles.directTurnBytes = 512;
  return o;
}

CollectiveSpec specOf(Collective collective, uint64_t count) {
  CollectiveSpec spec;
  spec.id = 7u;
  spec.collective = collective;
  spec.type = DataType::int32;
  spec.count = count;
  spec.countPerRun = true;
  spec.ranks.resize(kRanks);
  std::iota(spec.ranks.begin(), spec.ranks.end(), 0u);
  return spec;
}

ProgramOf connected(Collective collective, uint32_t lanes) {
  return [=](uint32_t member) {
    return buildConnectedProgram(collective, std::vector<uint32_t>(kRanks), member, 0, lanes);
  };
}

/// One registration of a world's ranks, and runs of it.
class Runs {
 public:
  Runs(uint32_t grid, const CollectiveSpec& spec, const ProgramOf& program) : world_(options(grid)), spec_(spec) {
    for (uint32_t r = 0; r < kRanks; ++r) {
      CollectiveSpec own = spec;
      own.program = program(r);
      indices_.push_back(world_.registerCollective(r, own));
    }
  }

  /// Of these counts, all at once. @return the elements that are not what they should be, and runs that failed.
  uint64_t wrong(const std::vector<uint64_t>& counts) {
    struct Run {
      std::vector<int32_t> in[kRanks], out[kRanks];
      uint32_t slot[kRanks];
    };
    std::vector<Run> runs(counts.size());
    for (size_t i = 0; i < runs.size(); ++i) {
      for (uint32_t r = 0; r < kRanks; ++r) {
        runs[i].in[r].resize(counts[i] * kRanks);
        std::iota(runs[i].in[r].begin(), runs[i].in[r].end(), static_cast<int32_t>(1000 * (r + 1) + i));
        runs[i].out[r].assign(counts[i] * kRanks + 1, -1);
        runs[i].slot[r] = world_.rank(r).submit(indices_[r], runs[i].in[r].data(), runs[i].out[r].data(), nullptr,
                                                nullptr, {}, PlaceOnLine{}, counts[i]);
      }
    }
    uint64_t bad = 0;
    for (size_t i = 0; i < runs.size(); ++i) {
      for (uint32_t r = 0; r < kRanks; ++r) {
        dfcclResult_t status;
        while (!world_.rank(r).takeCompletion(runs[i].slot[r], status)) world_.drive();
        bad += status != dfcclSuccess;
      }
      for (uint32_t r = 0; r < kRanks; ++r) bad += wrongOf(runs[i].in, runs[i].out[r], r, counts[i]);
    }
    return bad;
  }

 private:
  /// What lies at an element of a rank's result.
  int32_t expected(const std::vector<int32_t>* in, uint32_t rank, uint64_t at, uint64_t count) const {
    const uint64_t segment = at / count, element = at % count;
    switch (spec_.collective) {
      case Collective::allReduce:
        return in[0][at] + in[1][at] + in[2][at];
      case Collective::allGather:
        return in[segment][element];
      case Collective::reduceScatter:
        return in[0][rank * count + at] + in[1][rank * count + at] + in[2][rank * count + at];
      case Collective::allToAll:
        return in[segment][rank * count + element];
      default:
        return in[0][at];  // a broadcast
    }
  }

  uint64_t wrongOf(const std::vector<int32_t>* in, const std::vector<int32_t>& out, uint32_t rank, uint64_t count) {
    CollectiveSpec ofRun = spec_;
    ofRun.count = count;
    const uint64_t written = bufferSizes(ofRun, rank).recv;
    uint64_t bad = 0;
    for (uint64_t at = 0; at < out.size(); ++at) bad += out[at] != (at < written ? expected(in, rank, at, count) : -1);
    return bad;
  }

  CpuWorld world_;
  CollectiveSpec spec_;
  std::vector<uint32_t> indices_;
};

std::vector<uint64_t> randomCounts(std::mt19937& random, uint64_t most) {
  std::vector<uint64_t> counts{0, 1, most, kRanks, most, 2};
  for (int i = 0; i < 10; ++i) counts.push_back(random() % (most + 1));
  std::shuffle(counts.begin(), counts.end(), random);
  return counts;
}

dfcclResult_t refusal(const CollectiveSpec& spec, const ProgramOf& program) {
  CpuWorld world(options(1));
  CollectiveSpec own = spec;
  own.program = program(0);
  try {
    world.registerCollective(0, own);
  } catch (const Error& e) {
    CHECK(e.message().find("count") != std::string::npos);
    return e.status();
  }
  return dfcclSuccess;
}

}  // namespace

TEST_CASE("runs bring their counts to programs that move everything through connectors") {
  std::mt19937 random(7);
  for (const uint32_t lanes : {1u, 3u}) {
    for (const Collective collective : {Collective::allReduce, Collective::allGather, Collective::reduceScatter,
                                        Collective::allToAll, Collective::broadcast}) {
      CAPTURE(lanes);
      CAPTURE(nameOf(collective));
      Runs runs(2, specOf(collective, 2000), connected(collective, lanes));
      for (int round = 0; round < 3; ++round) CHECK(runs.wrong(randomCounts(random, 2000)) == 0);
    }
  }
}

TEST_CASE("... of every protocol, in scratch memory, in several blocks that wait for each other") {
  std::mt19937 random(8);
  const uint64_t most = 3000;
  for (const Protocol protocol : test::everyProtocol()) {
    CAPTURE(static_cast<int>(protocol));
    for (const ProgramOf& program :
         {test::ringAllReduce(protocol, kRanks, 2), test::stagedRingAllReduce(protocol, kRanks)}) {
      Runs runs(2, specOf(Collective::allReduce, most), program);
      for (int round = 0; round < 3; ++round) CHECK(runs.wrong(randomCounts(random, most)) == 0);
    }
  }
  Runs direct(2, specOf(Collective::allReduce, most), test::directAllReduce(kRanks, 3));
  CHECK(direct.wrong(randomCounts(random, most)) == 0);
}

TEST_CASE("what can't serve several counts is refused, with a remedy") {
  CollectiveSpec any = specOf(Collective::allReduce, mostCount(DataType::int32, kRanks));
  CHECK(takesAnyCount(any));
  CHECK(refusal(any, test::ringAllReduce(Protocol::simple, kRanks)) == dfcclSuccess);
  CHECK(refusal(any, test::stagedRingAllReduce(Protocol::simple, kRanks)) == dfcclInvalidArgument);
  CHECK(refusal(specOf(Collective::allReduce, 100),
                [](uint32_t member) { return buildExchangeProgram(kRanks, member); }) == dfcclInvalidProgram);
  CHECK(refusal(specOf(Collective::custom, 99), connected(Collective::custom, 1)) == dfcclInvalidArgument);
  CHECK(refusal(specOf(Collective::barrier, 0), [](uint32_t) { return std::vector<uint8_t>(); }) ==
        dfcclInvalidArgument);
}
