#include "cpu/cpu_world.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <random>

#include "daemon/support/programs.hpp"
#include "world/defaults.hpp"

using namespace dfccl;

namespace {

WorldOptions options(uint32_t ranks, uint32_t workers, uint32_t grid = 1) {
  WorldOptions o;
  o.ranks = ranks;
  o.workers = workers;
  o.limits.grid = grid;
  o.limits.submissionSlots = 1024;
  o.limits.completionSlots = 1024;
  o.limits.collectives = 256;
  o.limits.tasks = 512;
  o.policy = defaultPolicy(BackendKind::cpu);
  o.arenaBytes = size_t{64} << 20;
  return o;
}

CollectiveSpec allReduce(uint32_t id, uint32_t ranks, uint64_t count) {
  CollectiveSpec spec;
  spec.id = id;
  spec.count = count;
  spec.ranks.resize(ranks);
  std::iota(spec.ranks.begin(), spec.ranks.end(), 0u);
  return spec;
}

void waitFor(CpuWorld& world, uint32_t rank, uint32_t slot) {
  dfcclResult_t status;
  while (!world.rank(rank).takeCompletion(slot, status)) world.drive();
  CHECK(status == dfcclSuccess);
}

}  // namespace

TEST_CASE("an all-reduce over any number of ranks and any count is the sum on every rank") {
  for (const uint32_t ranks : {1u, 2u, 3u, 8u}) {
    for (const uint64_t count : {0ul, 1ul, 5ul, 1000ul, 300'001ul}) {
      CpuWorld world(options(ranks, 0));
      std::vector<std::vector<float>> in(ranks), out(ranks);
      std::vector<uint32_t> index(ranks), slot(ranks);
      for (uint32_t r = 0; r < ranks; ++r) {
        in[r].assign(count, static_cast<float>(r + 1));
        out[r].assign(count, -1);
        index[r] = world.registerCollective(r, allReduce(7, ranks, count));
      }
      for (uint32_t r = 0; r < ranks; ++r)
        slot[r] = world.rank(r).submit(index[r], in[r].data(), out[r].data(), nullptr, nullptr);
      for (uint32_t r = 0; r < ranks; ++r) waitFor(world, r, slot[r]);
      for (uint32_t r = 0; r < ranks; ++r) {
        const auto sum = static_cast<float>(ranks * (ranks + 1) / 2);
        CHECK(std::count(out[r].begin(), out[r].end(), sum) == static_cast<ptrdiff_t>(count));
      }
    }
  }
}

TEST_CASE("many collectives in an order of each rank's own all complete, again and again") {
  const uint32_t ranks = 4, collectives = 30;
  for (const uint32_t workers : {0u, 1u, 2u}) {
    for (const uint32_t grid : {1u, 3u}) {
      CpuWorld world(options(ranks, workers, grid));
      std::vector<std::vector<uint32_t>> index(ranks, std::vector<uint32_t>(collectives));
      std::vector<std::vector<std::vector<float>>> data(ranks, std::vector<std::vector<float>>(collectives));
      for (uint32_t r = 0; r < ranks; ++r) {
        for (uint32_t c = 0; c < collectives; ++c) {
          const uint64_t count = 10 + c * 997;
          index[r][c] = world.registerCollective(r, allReduce(c, ranks, count));
          data[r][c].assign(count, 1);
        }
      }
      std::mt19937 random(5);
      const int iterations = 20;
      for (int iteration = 0; iteration < iterations; ++iteration) {
        std::vector<std::pair<uint32_t, uint32_t>> slots;
        for (uint32_t r = 0; r < ranks; ++r) {
          std::vector<uint32_t> order(collectives);
          std::iota(order.begin(), order.end(), 0u);
          std::shuffle(order.begin(), order.end(), random);
          for (const uint32_t c : order) {
            slots.emplace_back(
                r, world.rank(r).submit(index[r][c], data[r][c].data(), data[r][c].data(), nullptr, nullptr));
            if (c == 7) CHECK(world.synchronize(r, 10'000'000));
          }
        }
        for (const auto& [r, slot] : slots) waitFor(world, r, slot);
        for (uint32_t r = 0; r < ranks; ++r) {
          for (uint32_t c = 0; c < collectives; ++c) {
            const float expected = 4;
            CHECK(std::count(data[r][c].begin(), data[r][c].end(), expected) ==
                  static_cast<ptrdiff_t>(data[r][c].size()));
            std::fill(data[r][c].begin(), data[r][c].end(), 1.0f);
          }
        }
      }
    }
  }
}

TEST_CASE("runs of one id are executed in the order of submission") {
  CpuWorld world(options(2, 0));
  std::vector<uint32_t> index(2);
  for (uint32_t r = 0; r < 2; ++r) index[r] = world.registerCollective(r, allReduce(1, 2, 4));
  std::vector<float> a(4, 1), b(4, 1);
  std::vector<uint32_t> slotA, slotB;
  for (int run = 0; run < 10; ++run)
    slotA.push_back(world.rank(0).submit(index[0], a.data(), a.data(), nullptr, nullptr));
  for (int i = 0; i < 100; ++i) world.drive();
  for (int run = 0; run < 10; ++run)
    slotB.push_back(world.rank(1).submit(index[1], b.data(), b.data(), nullptr, nullptr));
  for (int run = 0; run < 10; ++run) {
    waitFor(world, 0, slotA[run]);
    waitFor(world, 1, slotB[run]);
  }
  CHECK(a[3] == 1024);
  CHECK(b[0] == 1024);
}

TEST_CASE("only results are stored around the caches, not what is read from slots at once") {
  CpuWorld world(options(2, 0));
  const auto remembersStores = [&](uint32_t id, const std::vector<uint8_t>& program) {
    CollectiveSpec spec = allReduce(id, 2, 100'000);
    spec.program = program;
    const uint32_t index = world.registerCollective(0, spec);
    return world.rank(0).memory().collectives[index].stores != nullptr;
  };
  CHECK(remembersStores(1, {}));
  CHECK_FALSE(remembersStores(2, test::ringAllReduce(Protocol::simple, 2)(0)));
  CHECK_FALSE(remembersStores(3, test::stagedRingAllReduce(Protocol::ll, 2)(0)));
}

TEST_CASE("in order, opposite orders deadlock and the watchdog prints the cycle; preempting, they complete") {
  for (const bool inOrder : {true, false}) {
    WorldOptions o = options(2, 1);
    if (inOrder) o.policy = inOrderPolicy(BackendKind::cpu, 1);
    CpuWorld world(o);
    std::vector<float> x(4, 1), y(4, 1), u(4, 1), v(4, 1);
    uint32_t index[2][2];
    for (uint32_t r = 0; r < 2; ++r) {
      for (uint32_t c = 0; c < 2; ++c) index[r][c] = world.registerCollective(r, allReduce(c, 2, 4));
    }
    const uint32_t s0 = world.rank(0).submit(index[0][0], x.data(), x.data(), nullptr, nullptr);
    const uint32_t s1 = world.rank(0).submit(index[0][1], y.data(), y.data(), nullptr, nullptr);
    const uint32_t t1 = world.rank(1).submit(index[1][1], u.data(), u.data(), nullptr, nullptr);
    const uint32_t t0 = world.rank(1).submit(index[1][0], v.data(), v.data(), nullptr, nullptr);
    world.ring();
    if (!inOrder) {
      waitFor(world, 0, s0);
      waitFor(world, 0, s1);
      waitFor(world, 1, t0);
      waitFor(world, 1, t1);
      CHECK(world.deadlock() == nullptr);
      continue;
    }
    std::unique_ptr<DeadlockReport> report;
    while (!(report = world.deadlock())) std::this_thread::yield();
    CHECK(report->cycle.size() == 4);
    MESSAGE(report->text);
    dfcclResult_t status;
    CHECK_FALSE(world.rank(0).takeCompletion(s0, status));
  }
}
