// Ranks on several machines with places for a few signatures: each forgets others than its peers do, at other times.
// Over UCX and loopback.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <random>
#include <vector>

#include "dfccl/dfccl.h"
#include "network/support/rendezvous_points.hpp"
#include "processes/support/expect.hpp"
#include "processes/support/processes.hpp"
#include "processes/support/tier.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr uint64_t kPatience = 30'000'000;  // microseconds; what is stuck stays so
constexpr std::chrono::seconds kLimit(120);
constexpr int kMost = 4;
constexpr size_t kOutstanding = 2;

bool isWell(dfcclResult_t result) {
  if (result != dfcclSuccess) std::fprintf(stderr, "%s\n", dfcclGetLastError());
  return result == dfcclSuccess;
}

struct Setting {
  uint32_t ranks, ranksEach, places;
};

constexpr Setting kSettings[] = {
    {2, 1, 8},
    {3, 1, 8},
#if !defined(__SANITIZE_THREAD__)  // which sees no order in what one process frees and another one takes
    {4, 2, 8},
#endif
};

/// This process's rank, in a world of its own.
class Member {
 public:
  Member(const Setting& setting, const std::string& job, const OwnPort& port, uint32_t rank) {
    const std::string host = std::to_string(rank / setting.ranksEach);
    setenv("DFCCL_RANK", std::to_string(rank).c_str(), 1);
    setenv("DFCCL_WORLD_SIZE", std::to_string(setting.ranks).c_str(), 1);
    setenv("DFCCL_JOB", job.c_str(), 1);
    setenv("DFCCL_ADDRESS", ("127.0.0.1:" + std::to_string(port.number())).c_str(), 1);
    setenv("DFCCL_HOST", ("machine " + host).c_str(), 1);
    setenv("DFCCL_JOB_SECRET", kSecret, 1);
    dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
    config.world.collectives = setting.places;
    config.world.submissionSlots = config.world.completionSlots = 256;
    config.world.arenaBytes = size_t{256} << 20;
    config.world.slotPayloadBytes = 512;
    config.muteMillis = 60'000;
    isThere_ = dfcclJoinWorld(&config, &world_, nullptr) == dfcclSuccess &&
               dfcclInitRank(world_, static_cast<int>(rank), &ctx_) == dfcclSuccess;
    if (!isThere_) std::fprintf(stderr, "rank %u: %s\n", rank, dfcclGetLastError());
  }
  ~Member() {
    dfcclDestroy(ctx_);
    dfcclWorldDestroy(world_);
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  bool isThere() const { return isThere_; }
  dfcclRankCtx_t ctx() const { return ctx_; }
  dfcclCounters_t counters() const {
    dfcclCounters_t counters{};
    counters.structSize = sizeof counters;
    (void)isWell(dfcclGetCounters(&counters, ctx_));
    return counters;
  }

 private:
  dfcclWorld_t world_ = nullptr;
  dfcclRankCtx_t ctx_ = nullptr;
  bool isThere_ = false;
};

struct Operation {
  enum Kind { message, reduction, broadcast } kind;
  uint32_t from, to;
  int count;
  uint64_t tag;
};

/// The same on every rank, which carries out those that it has a part in.
Operation draw(std::mt19937& random, uint32_t ranks) {
  Operation drawn{};
  drawn.kind = static_cast<Operation::Kind>(random() % 3);
  drawn.from = random() % ranks;
  drawn.to = (drawn.from + 1 + random() % (ranks - 1)) % ranks;
  drawn.count = 1 + static_cast<int>(random() % kMost);
  drawn.tag = random() % 3;
  return drawn;
}

int valueOf(int number, uint32_t rank, int i) { return 1000 * number + 10 * static_cast<int>(rank) + i; }

struct Outstanding {
  dfcclRequest_t request = nullptr;
  int in[kMost] = {}, out[kMost] = {}, expected[kMost] = {};

  bool begin(const Operation& what, int number, uint32_t rank, uint32_t ranks, dfcclGroup_t group) {
    const bool isSender = what.kind == Operation::message && rank == what.from;
    for (int i = 0; i < kMost; ++i) {
      in[i] = valueOf(number, rank, i);
      out[i] = expected[i] = -1;
      if (i >= what.count || isSender) continue;
      expected[i] = valueOf(number, what.from, i);
      if (what.kind != Operation::reduction) continue;
      expected[i] = 0;
      for (uint32_t r = 0; r < ranks; ++r) expected[i] += valueOf(number, r, i);
    }
    const auto count = static_cast<size_t>(what.count);
    const int from = static_cast<int>(what.from), to = static_cast<int>(what.to);
    switch (what.kind) {
      case Operation::reduction:
        return isWell(dfcclAllReduce(in, out, count, dfcclInt32, dfcclSum, group, what.tag, nullptr, &request));
      case Operation::broadcast:
        return isWell(dfcclBroadcast(in, out, count, dfcclInt32, from, group, what.tag, nullptr, &request));
      case Operation::message:
        return isWell(isSender ? dfcclSend(in, count, dfcclInt32, to, group, what.tag, nullptr, &request)
                               : dfcclRecv(out, count, dfcclInt32, from, group, what.tag, nullptr, &request));
    }
    return false;
  }
  bool await() {
    if (request == nullptr) return true;
    const bool isOver = isWell(dfcclWaitRun(std::exchange(request, nullptr), kPatience));
    return isOver && std::equal(out, out + kMost, expected);
  }
};

/// Messages to oneself, each of a signature that no other rank has.
bool fillPlaces(uint32_t count, uint32_t rank, dfcclGroup_t group, std::mt19937& random) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t tag = 100 + random() % 30;
    const int in = static_cast<int>(tag), self = static_cast<int>(rank);
    int out = 0;
    dfcclRequest_t request = nullptr;
    if (!isWell(dfcclSend(&in, 1, dfcclInt32, self, group, tag, nullptr, nullptr))) return false;
    if (!isWell(dfcclRecv(&out, 1, dfcclInt32, self, group, tag, nullptr, &request))) return false;
    if (!isWell(dfcclWaitRun(request, kPatience)) || out != in) return false;
  }
  return true;
}

int carryOut(const Member& own, uint32_t rank, const Setting& setting, unsigned seed, int operations) {
  std::mt19937 common(seed), random(seed + 1 + rank);
  Outstanding runs[kOutstanding];
  dfcclGroup_t group = nullptr;
  EXPECT(isWell(dfcclGroupCreate(nullptr, 0, seed, &group, own.ctx())));
  for (int number = 0, begun = 0; number < operations; ++number) {
    const Operation what = draw(common, setting.ranks);
    if (what.kind == Operation::message && rank != what.from && rank != what.to) continue;
    Outstanding& run = runs[begun++ % kOutstanding];
    EXPECT(run.await());
    if (random() % 4 == 0) EXPECT(fillPlaces(1 + random() % setting.places, rank, group, random));
    EXPECT(run.begin(what, number, rank, setting.ranks, group));
  }
  for (Outstanding& run : runs) EXPECT(run.await());
  EXPECT(isWell(dfcclGroupDestroy(group)));
  return kFine;
}

#if !defined(__SANITIZE_THREAD__)  // counters are read while daemons count
bool sumOne(dfcclGroup_t group, uint64_t tag) {
  const int in = 1;
  int out = 0;
  dfcclRequest_t request = nullptr;
  return isWell(dfcclAllReduce(&in, &out, 1, dfcclInt32, dfcclSum, group, tag, nullptr, &request)) &&
         isWell(dfcclWaitRun(request, kPatience)) && out == 2;
}

/// Each of a signature of its own.
int sumMany(const Member& own) {
  constexpr uint64_t kFirst = 200, kMore = 4000;
  dfcclGroup_t group = nullptr;
  EXPECT(isWell(dfcclGroupCreate(nullptr, 0, 1, &group, own.ctx())));
  for (uint64_t tag = 0; tag < kFirst; ++tag) EXPECT(sumOne(group, tag));
  const dfcclCounters_t before = own.counters();
  for (uint64_t tag = kFirst; tag < kFirst + kMore; ++tag) EXPECT(sumOne(group, tag));
  const dfcclCounters_t after = own.counters();
  // How many are on their way out differs.
  EXPECT(after.collectiveBytes <= 2 * before.collectiveBytes);
  EXPECT(after.arenaBytesUsed <= 2 * before.arenaBytesUsed);
  EXPECT(isWell(dfcclGroupDestroy(group)));
  return kFine;
}

#endif

void onMachines(const Setting& setting, const Processes::Task& task) {
  Processes processes(setting.ranks, task);
  for (uint32_t r = 0; r < setting.ranks; ++r) CHECK(processes.join(r, kLimit) == kFine);
}

}  // namespace

TEST_CASE("ranks on several machines forget different signatures, and their runs meet in their order") {
  const auto seed = static_cast<unsigned>(std::random_device{}());
  CAPTURE(seed);
  const int operations = isLongTier() ? 5000 : 600;
  for (const Setting& setting : kSettings) {
    CAPTURE(setting.ranks);
    const OwnPort port;
    const std::string job = newJob();
    onMachines(setting, [&](uint32_t rank) {
      const Member own(setting, job, port, rank);
      return own.isThere() ? carryOut(own, rank, setting, seed, operations) : kThrew;
    });
  }
}

#if !defined(__SANITIZE_THREAD__)
TEST_CASE("signatures that all ranks have forgotten take no memory") {
  const Setting setting{2, 1, 16};
  const OwnPort port;
  const std::string job = newJob();
  onMachines(setting, [&](uint32_t rank) {
    const Member own(setting, job, port, rank);
    return own.isThere() ? sumMany(own) : kThrew;
  });
}
#endif

int main(int argc, char** argv) {
  if (!hasTransport()) return kSkipped;
  return doctest::Context(argc, argv).run();
}
