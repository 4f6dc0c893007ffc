// Every collective through the C API, in random orders, bit for bit.
#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <thread>

#include "support.hpp"

using namespace dfccl::gpu::test;

namespace {

using Values = std::vector<int32_t>;

int32_t value(int rank, int id, size_t i) {
  return static_cast<int32_t>(1000 * rank + 7 * id + static_cast<int>(i % 997));
}

/// A collective of all ranks: how it is registered, and what lies in a rank's buffers before and afterwards.
struct Case {
  const char* name;
  std::function<dfcclResult_t(size_t count, int id, dfcclRankCtx_t)> add;
  std::function<size_t(size_t count, int ranks, int rank)> sendCount, recvCount;
  std::function<int32_t(int id, size_t count, int ranks, int rank, size_t i)> result;
};

int32_t sumOf(int id, int ranks, size_t i) {
  int32_t sum = 0;
  for (int r = 0; r < ranks; ++r) sum += value(r, id, i);
  return sum;
}

std::vector<Case> cases() {
  const auto one = [](size_t count, int, int) { return count; };
  const auto each = [](size_t count, int ranks, int) { return count * static_cast<size_t>(ranks); };
  const auto onRoot = [](size_t count, int, int rank) { return rank == 0 ? count : 0; };
  const auto eachOnRoot = [](size_t count, int ranks, int rank) {
    return rank == 0 ? count * static_cast<size_t>(ranks) : 0;
  };
  const auto all = dfcclAllRanks();
  return {
      {"all-reduce",
       [=](size_t n, int id, dfcclRankCtx_t c) {
         return dfcclRegisterAllReduce(n, dfcclInt32, dfcclSum, id, all, 0, c);
       },
       one, one, [](int id, size_t, int ranks, int, size_t i) { return sumOf(id, ranks, i); }},
      {"all-gather",
       [=](size_t n, int id, dfcclRankCtx_t c) { return dfcclRegisterAllGather(n, dfcclInt32, id, all, 0, c); }, one,
       each, [](int id, size_t n, int, int, size_t i) { return value(static_cast<int>(i / n), id, i % n); }},
      {"reduce-scatter",
       [=](size_t n, int id, dfcclRankCtx_t c) {
         return dfcclRegisterReduceScatter(n, dfcclInt32, dfcclSum, id, all, 0, c);
       },
       each, one,
       [](int id, size_t n, int ranks, int rank, size_t i) {
         return sumOf(id, ranks, static_cast<size_t>(rank) * n + i);
       }},
      {"reduce",
       [=](size_t n, int id, dfcclRankCtx_t c) {
         return dfcclRegisterReduce(n, dfcclInt32, dfcclSum, 0, id, all, 0, c);
       },
       one, onRoot, [](int id, size_t, int ranks, int, size_t i) { return sumOf(id, ranks, i); }},
      {"broadcast",
       [=](size_t n, int id, dfcclRankCtx_t c) { return dfcclRegisterBroadcast(n, dfcclInt32, 0, id, all, 0, c); },
       onRoot, one, [](int id, size_t, int, int, size_t i) { return value(0, id, i); }},
      {"all-to-all",
       [=](size_t n, int id, dfcclRankCtx_t c) { return dfcclRegisterAllToAll(n, dfcclInt32, id, all, 0, c); }, each,
       each,
       [](int id, size_t n, int, int rank, size_t i) {
         return value(static_cast<int>(i / n), id, static_cast<size_t>(rank) * n + i % n);
       }},
      {"gather",
       [=](size_t n, int id, dfcclRankCtx_t c) { return dfcclRegisterGather(n, dfcclInt32, 0, id, all, 0, c); }, one,
       eachOnRoot, [](int id, size_t n, int, int, size_t i) { return value(static_cast<int>(i / n), id, i % n); }},
      {"scatter",
       [=](size_t n, int id, dfcclRankCtx_t c) { return dfcclRegisterScatter(n, dfcclInt32, 0, id, all, 0, c); },
       eachOnRoot, one,
       [](int id, size_t n, int, int rank, size_t i) { return value(0, id, static_cast<size_t>(rank) * n + i); }},
  };
}

}  // namespace

TEST_CASE("every collective gives its result on every rank, whatever the order on each") {
  const GpuRanks ranks;
  const int n = ranks.size();
  const std::vector<Case> all = cases();
  const size_t counts[] = {1, 255, 4096, 300'001};
  struct Registered {
    const Case* what;
    size_t count;
    std::vector<DeviceArray<int32_t>> send, recv;
  };
  std::vector<Registered> registered;
  for (const size_t count : counts) {
    for (const Case& what : all) {
      Registered entry{&what, count, {}, {}};
      const int id = static_cast<int>(registered.size());
      for (int r = 0; r < n; ++r) {
        CHECK_OK(what.add(count, id, ranks[r]));
        entry.send.emplace_back(ranks.device(r), what.sendCount(count, n, r));
        entry.recv.emplace_back(ranks.device(r), what.recvCount(count, n, r));
        Values values(what.sendCount(count, n, r));
        for (size_t i = 0; i < values.size(); ++i) values[i] = value(r, id, i);
        entry.send.back().set(values);
      }
      registered.push_back(std::move(entry));
    }
  }
  std::mt19937 random(7);
  for (int iteration = 0; iteration < 20; ++iteration) {
    for (const Registered& entry : registered) {
      for (int r = 0; r < n; ++r)
        entry.recv[static_cast<size_t>(r)].set(Values(entry.what->recvCount(entry.count, n, r), -1));
    }
    for (int r = 0; r < n; ++r) {
      std::vector<int> order(registered.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
      std::shuffle(order.begin(), order.end(), random);
      for (const int id : order) {
        const Registered& entry = registered[static_cast<size_t>(id)];
        const auto at = static_cast<size_t>(r);
        CHECK_OK(dfcclRun(entry.send[at].data(), entry.recv[at].data(), id, nullptr, nullptr, ranks[r]));
      }
    }
    CHECK_OK(ranks.waitAll());
    size_t wrong = 0;
    for (size_t id = 0; id < registered.size(); ++id) {
      const Registered& entry = registered[id];
      for (int r = 0; r < n; ++r) {
        const Values got = entry.recv[static_cast<size_t>(r)].get();
        for (size_t i = 0; i < entry.what->recvCount(entry.count, n, r); ++i) {
          wrong += got[i] != entry.what->result(static_cast<int>(id), entry.count, n, r, i);
        }
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a device synchronization between all-reduces in opposite orders ends, a thread a rank") {
  const GpuRanks ranks(0, 1);
  const int n = ranks.size();
  for (int r = 0; r < n; ++r) {
    for (int id = 0; id < 2; ++id) {
      CHECK_OK(dfcclRegisterAllReduce(1000, dfcclFloat32, dfcclSum, id, dfcclAllRanks(), 0, ranks[r]));
    }
  }
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int r = 0; r < n; ++r) {
    threads.emplace_back([&, r] {
      const DeviceArray<float> x(ranks.device(r), 1000), y(ranks.device(r), 1000);
      for (int i = 0; i < 200; ++i) {
        for (int k = 0; k < 2; ++k) {
          const int id = r % 2 == 0 ? k : 1 - k;
          failures += dfcclRun(x.data(), y.data(), id, nullptr, nullptr, ranks[r]) != dfcclSuccess;
          failures +=
              (i % 2 == 0 ? dfcclSynchronize(ranks[r]) != dfcclSuccess : cudaDeviceSynchronize() != cudaSuccess);
        }
        failures += dfcclWait(ranks[r]) != dfcclSuccess;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
}

TEST_CASE("a rank that is behind joins the oldest registration of an id that it has not been in") {
  const GpuRanks ranks(3);
  constexpr int kId = 4;
  constexpr size_t kCount = 8;
  const auto add = [&](int r) {
    CHECK_OK(dfcclRegisterAllReduce(kCount, dfcclFloat32, dfcclSum, kId, dfcclAllRanks(), 0, ranks[r]));
  };
  const auto addAnew = [&](int r) {
    CHECK_OK(dfcclUnregister(kId, ranks[r]));
    add(r);
  };
  add(1);
  add(0);
  addAnew(0);
  add(2);  // two registrations are open to it
  addAnew(1);
  addAnew(2);
  std::vector<DeviceArray<float>> data;
  for (int r = 0; r < 3; ++r) {
    data.emplace_back(ranks.device(r), kCount);
    data.back().set(std::vector<float>(kCount, static_cast<float>(r + 1)));
    CHECK_OK(dfcclRun(data.back().data(), data.back().data(), kId, nullptr, nullptr, ranks[r]));
  }
  for (int r = 0; r < 3; ++r) {
    CHECK_OK(dfcclWaitFor(10'000'000, ranks[r]));
    CHECK(data[static_cast<size_t>(r)].get() == std::vector<float>(kCount, 6.0f));
  }
}

TEST_CASE("callbacks come while nobody waits, each once") {
  const GpuRanks ranks(0, 1);
  std::atomic<int> calls{0};
  const auto count = [](void* calls, dfcclResult_t status) {
    if (status == dfcclSuccess) static_cast<std::atomic<int>*>(calls)->fetch_add(1);
  };
  std::vector<DeviceArray<float>> x;
  for (int r = 0; r < ranks.size(); ++r) {
    x.emplace_back(ranks.device(r), 100);
    CHECK_OK(dfcclRegisterAllReduce(100, dfcclFloat32, dfcclSum, 1, dfcclAllRanks(), 0, ranks[r]));
  }
  for (int i = 0; i < 50; ++i) {
    for (int r = 0; r < ranks.size(); ++r) {
      float* const data = x[static_cast<size_t>(r)].data();
      CHECK_OK(dfcclRun(data, data, 1, count, &calls, ranks[r]));
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  while (calls < 50 * ranks.size() && microsSince(begin) < 5e6) std::this_thread::yield();
  CHECK(calls == 50 * ranks.size());
}

TEST_CASE("places are used again: many more collectives in turn than there is room for at a time") {
  // Room is for 1,024.
  constexpr int kTimes = kIsSimulated ? 1200 : 2500;
  const GpuRanks ranks;
  std::vector<DeviceArray<int32_t>> x;
  for (int r = 0; r < ranks.size(); ++r) {
    x.emplace_back(ranks.device(r), 64);
    x.back().set(Values(64, 1));
  }
  dfcclCounters_t counters{};
  counters.structSize = sizeof counters;
  uint64_t arenaAfterFirst = 0;
  int32_t expected = 1;
  for (int i = 0; i < kTimes; ++i) {
    for (int r = 0; r < ranks.size(); ++r) {
      CHECK_OK(dfcclRegisterAllReduce(64, dfcclInt32, dfcclMax, i % 3, dfcclAllRanks(), 0, ranks[r]));
      int32_t* const data = x[static_cast<size_t>(r)].data();
      CHECK_OK(dfcclRun(data, data, i % 3, nullptr, nullptr, ranks[r]));
    }
    CHECK_OK(ranks.waitAll());
    for (int r = 0; r < ranks.size(); ++r) CHECK_OK(dfcclUnregister(i % 3, ranks[r]));
    CHECK_OK(dfcclGetCounters(&counters, ranks[0]));
    if (i == 0) arenaAfterFirst = counters.arenaBytesUsed;
  }
  CHECK(counters.arenaBytesUsed == arenaAfterFirst);
  CHECK(x[0].get() == Values(64, expected));
}

TEST_CASE("the default world takes its backend from the environment, and counters count") {
  setenv("DFCCL_BACKEND", "cuda", 1);
  setenv("DFCCL_RANKS", "2", 1);
  dfcclRankCtx_t context[2];
  for (int r = 0; r < 2; ++r) CHECK_OK(dfcclInit(&context[r], r));
  std::vector<DeviceArray<float>> x;
  for (int r = 0; r < 2; ++r) {
    int device = -1;
    CHECK_OK(dfcclGetDevice(&device, context[r]));
    CHECK(device == r % deviceCount());
    x.emplace_back(device, 1000);
    x.back().set(std::vector<float>(1000, 1.5f));
    CHECK_OK(dfcclRegisterAllReduce(1000, dfcclFloat32, dfcclSum, 7, dfcclAllRanks(), 0, context[r]));
    CHECK_OK(dfcclRunAllReduce(x.back().data(), x.back().data(), 7, nullptr, nullptr, context[r]));
  }
  CHECK_OK(dfcclWaitAll(context, 2));
  CHECK(x[0].get() == std::vector<float>(1000, 3.f));
  CHECK_OK(dfcclSynchronize(context[0]));
  dfcclCounters_t counters{};
  counters.structSize = sizeof counters;
  CHECK_OK(dfcclGetCounters(&counters, context[0]));
  CHECK(counters.launches >= 1);
  CHECK(counters.runsCompleted == 1);
  CHECK(counters.slices >= 1);
  for (int r = 0; r < 2; ++r) CHECK_OK(dfcclDestroy(context[r]));
}
