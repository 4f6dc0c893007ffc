#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>

#include "base/error.hpp"
#include "daemon/support/programs.hpp"
#include "network/support/rendezvous_points.hpp"
#include "processes/support/disorder.hpp"
#include "processes/support/joined_rank.hpp"
#include "processes/support/processes.hpp"
#include "world/builtin_programs.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

struct Layout {
  uint32_t hosts, ranksEach;
  uint32_t workers;
  uint32_t ranks() const { return hosts * ranksEach; }
  uint32_t hostOf(uint32_t rank) const { return rank / ranksEach; }
};

// Some in one slot, some in many; some within a machine, some across.
constexpr uint64_t kCounts[] = {1, 100, 5000, 40'000, 150'000, 400'000};

int runDisorderOn(const std::string& job, const OwnPort& port, uint32_t rank, const Layout& layout, unsigned seed) {
  const RendezvousPoint point = pointOn(port, layout.hostOf(rank));
  return runDisorder(JoinedRank(job, rank, layout.ranks(), 30'000, layout.workers, &point), layout.ranks(), 2, 12,
                     kCounts, seed, 5);
}

}  // namespace

TEST_CASE("ranks that share no memory complete in orders of their own, bit for bit") {
  const auto seed = static_cast<unsigned>(std::random_device{}());
  CAPTURE(seed);
  for (const Layout& layout : {Layout{2, 1, 0}, Layout{2, 1, 1}, Layout{2, 2, 0}, Layout{3, 2, 1}}) {
    CAPTURE(layout.hosts);
    CAPTURE(layout.ranksEach);
    CAPTURE(layout.workers);
    const std::string job = newJob();
    const OwnPort port;
    Processes processes(layout.ranks(), [&](uint32_t rank) { return runDisorderOn(job, port, rank, layout, seed); });
    for (uint32_t r = 0; r < layout.ranks(); ++r) CHECK(processes.join(r) == kFine);
  }
}

namespace {

constexpr Layout kPair{2, 1, 1};

/// Each of two ranks, on machines of their own. @return whether both ended well.
bool onTwoMachines(const std::function<int(JoinedRank&)>& task) {
  const std::string job = newJob();
  const OwnPort port;
  Processes processes(2, [&](uint32_t rank) {
    const RendezvousPoint point = pointOn(port, kPair.hostOf(rank));
    JoinedRank own(job, rank, 2, 30'000, kPair.workers, &point);
    return task(own);
  });
  const int first = processes.join(0), second = processes.join(1);
  return first == kFine && second == kFine;
}

/// Waits for a completion for a while. @return whether it came.
bool completesWithin(JoinedRank& own, uint32_t slot, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  dfcclResult_t status;
  while (!own.world().rank(own.number()).takeCompletion(slot, status)) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    own.step();
  }
  return status == dfcclSuccess;
}

CollectiveSpec allReduceOf(uint32_t id, uint64_t count) {
  CollectiveSpec spec;
  spec.id = id;
  spec.count = count;
  spec.ranks = allRanks(2);
  return spec;
}

}  // namespace

TEST_CASE("collectives that the other machine hasn't submitted, with every slot full, hold up none that it has") {
  CHECK(onTwoMachines([](JoinedRank& own) {
    std::vector<JoinedRank::AllReduce> stuck;
    for (uint32_t id = 0; id < 20; ++id) stuck.push_back(own.add(id, 300'000, allRanks(2)));
    JoinedRank::AllReduce wanted = own.add(100, 300'000, allRanks(2));
    std::vector<uint32_t> slots;
    if (own.number() == 0) {
      for (auto& c : stuck) slots.push_back(own.submit(c));
    }
    dfcclResult_t status;
    constexpr int kRuns = 20;
    for (int run = 0; run < kRuns; ++run) {
      // Control, before the run that the other rank waits for until it submits them.
      if (own.number() == 0 && run == kRuns - 1) {
        if (own.world().rank(0).takeCompletion(slots.front(), status)) return kWrong;
      }
      if (!completesWithin(own, own.submit(wanted), std::chrono::seconds(30)) || JoinedRank::wrong(wanted) != 0)
        return kWrong;
    }
    if (own.number() == 1) {
      for (auto& c : stuck) slots.push_back(own.submit(c));
    }
    for (size_t i = 0; i < stuck.size(); ++i) {
      if (own.wait(slots[i]) != dfcclSuccess || JoinedRank::wrong(stuck[i]) != 0) return kWrong;
    }
    return kFine;
  }));
}

TEST_CASE("an id that two machines register differently ends in an error that says how, on both") {
  CHECK(onTwoMachines([](JoinedRank& own) {
    const CollectiveSpec spec = allReduceOf(7, own.number() == 0 ? 1000 : 2000);
    try {
      // Whoever is second and has been told is refused at once; where both are first, both runs end.
      const uint32_t index = own.world().registerCollective(own.number(), spec);
      Segment& segment = *own.world().segment();
      auto* buffer = segment.allocateBuffer(8000);
      const uint32_t slot = own.world().rank(own.number()).submit(index, buffer, buffer, nullptr, nullptr);
      own.world().ring();
      if (own.wait(slot) != dfcclAborted) return kWrong;
      // Where only the other one was refused, this one's run ends because that has left.
      const std::string why = own.world().whyAborted(own.number(), index);
      return why.find("count") != std::string::npos || !own.world().lostRanks().empty() ? kFine : kWrong;
    } catch (const Error& e) {
      return e.status() == dfcclRegistrationMismatch && e.message().find("count") != std::string::npos ? kFine : kWrong;
    }
  }));
}

TEST_CASE("an id can be registered again and again, also after an abort, and the ranks mean the same registration") {
  CHECK(onTwoMachines([](JoinedRank& own) {
    Segment& segment = *own.world().segment();
    auto* in = reinterpret_cast<float*>(segment.allocateBuffer(4000));
    auto* out = reinterpret_cast<float*>(segment.allocateBuffer(4000));
    CpuWorld& world = own.world();
    for (int round = 0; round < 60; ++round) {
      const uint32_t index = world.registerCollective(own.number(), allReduceOf(3, 1000));
      for (int i = 0; i < 1000; ++i) in[i] = static_cast<float>(round + i);
      const uint32_t slot = world.rank(own.number()).submit(index, in, out, nullptr, nullptr);
      world.ring();
      // It completed on one rank at least, so both have registered it, and both are told of the abort.
      const bool isAborted = round % 3 == 2;
      const dfcclResult_t status = own.wait(slot);
      if (status != dfcclSuccess && !isAborted) return kWrong;
      for (int i = 0; i < 1000 && status == dfcclSuccess; ++i) {
        if (out[i] != 2 * in[i]) return kWrong;
      }
      if (isAborted && own.number() == static_cast<uint32_t>(round / 3 % 2)) world.abortCollective(own.number(), index);
      while (isAborted && !world.isAborted(own.number(), index)) own.step();
      world.unregisterCollective(own.number(), index, 1);
    }
    return kFine;
  }));
}

TEST_CASE("a registration that one rank gave up before the other came is over for both, and the next one is the same") {
  CHECK(onTwoMachines([](JoinedRank& own) {
    CpuWorld& world = own.world();
    auto* buffer = world.segment()->allocateBuffer(4000);
    const auto runOnce = [&](uint32_t id) {
      const uint32_t index = world.registerCollective(own.number(), allReduceOf(id, 1000));
      const uint32_t slot = world.rank(own.number()).submit(index, buffer, buffer, nullptr, nullptr);
      world.ring();
      const dfcclResult_t status = own.wait(slot);
      if (status == dfcclSuccess) world.unregisterCollective(own.number(), index, 1);
      return status;
    };
    if (own.number() == 0) world.unregisterCollective(0, world.registerCollective(0, allReduceOf(3, 1000)), 0);
    // Meanwhile the other rank hears of that.
    for (int round = 0; round < 20; ++round) {
      if (runOnce(4) != dfcclSuccess) return kWrong;
    }
    return runOnce(3) == dfcclSuccess ? kFine : kWrong;
  }));
}

TEST_CASE("programs of every protocol cross machines, bit for bit") {
  for (const Protocol protocol : everyProtocol()) {
    CAPTURE(static_cast<int>(protocol));
    CHECK(onTwoMachines([&](JoinedRank& own) {
      CpuWorld& world = own.world();
      for (uint32_t id = 0; id < 4; ++id) {
        // Whole messages, and ones that end within a word, a line and a chunk.
        CollectiveSpec spec = allReduceOf(id, std::array{1u, 999u, 4096u, 60'001u}[id]);
        spec.program = ringAllReduce(protocol, 2, 1 + id % 2)(own.number());
        const uint32_t index = world.registerCollective(own.number(), spec);
        auto* in = reinterpret_cast<float*>(world.segment()->allocateBuffer(spec.count * sizeof(float)));
        auto* out = reinterpret_cast<float*>(world.segment()->allocateBuffer(spec.count * sizeof(float)));
        for (uint64_t run = 0; run < 5; ++run) {
          for (uint64_t i = 0; i < spec.count; ++i) in[i] = inputAt(own.number(), id, run, i);
          const uint32_t slot = world.rank(own.number()).submit(index, in, out, nullptr, nullptr);
          world.ring();
          if (own.wait(slot) != dfcclSuccess) return kWrong;
          for (uint64_t i = 0; i < spec.count; ++i) {
            if (out[i] != inputAt(0, id, run, i) + inputAt(1, id, run, i)) return kWrong;
          }
        }
      }
      return kFine;
    }));
  }
}

TEST_CASE("a program that reads other ranks' memory is refused where they are on several machines") {
  CHECK(onTwoMachines([](JoinedRank& own) {
    CollectiveSpec spec = allReduceOf(1, 100);
    spec.program = buildDirectProgram(Collective::allReduce, 2, own.number(), 0);
    try {
      own.world().registerCollective(own.number(), spec);
    } catch (const Error& e) {
      return e.status() == dfcclInvalidProgram && e.message().find("several machines") != std::string::npos ? kFine
                                                                                                            : kWrong;
    }
    return kWrong;
  }));
}

TEST_CASE("a count per run is refused where ranks are on several machines, and nowhere else") {
  CHECK(onTwoMachines([](JoinedRank& own) {
    CollectiveSpec spec = allReduceOf(1, 100);
    spec.countPerRun = true;
    try {
      own.world().registerCollective(own.number(), spec);
      return kWrong;
    } catch (const Error& e) {
      if (e.status() != dfcclUnavailable || e.message().find("several machines") == std::string::npos) return kWrong;
    }
    spec.ranks = {own.number()};
    own.world().registerCollective(own.number(), spec);
    return kFine;
  }));
}

int main(int argc, char** argv) {
  if (!hasTransport()) return kSkipped;
  return doctest::Context(argc, argv).run();
}
