// Bad input, ranks that never come, aborts: what the C API says of each on GPUs, and that nothing hangs.
#include <cstdlib>

#include "child.hpp"
#include "streams.hpp"
#include "word.hpp"

using namespace dfccl::gpu::test;

namespace {

bool says(const char* words) { return std::string(dfcclGetLastError()).find(words) != std::string::npos; }

}  // namespace

TEST_CASE("a buffer that the rank's daemon can't use is refused before it is queued") {
  const GpuRanks ranks;
  for (int r = 0; r < ranks.size(); ++r) {
    CHECK_OK(dfcclRegisterAllReduce(100, dfcclFloat32, dfcclSum, 1, dfcclAllRanks(), 0, ranks[r]));
  }
  const DeviceArray<float> good(ranks.device(0), 1000);
  std::vector<float> onHost(100);
  const auto run = [&](const void* send, void* recv) { return dfcclRun(send, recv, 1, nullptr, nullptr, ranks[0]); };

  CHECK(run(onHost.data(), good.data()) == dfcclInvalidArgument);
  CHECK(says("the send buffer"));
  CHECK(says("is not device memory"));
  CHECK(run(good.data(), onHost.data()) == dfcclInvalidArgument);
  CHECK(says("the receive buffer"));
  float* pinned = nullptr;
  REQUIRE(cudaMallocHost(reinterpret_cast<void**>(&pinned), 400) == cudaSuccess);
  CHECK(run(pinned, good.data()) == dfcclInvalidArgument);
  cudaFreeHost(pinned);
  CHECK(run(reinterpret_cast<char*>(good.data()) + 2, good.data() + 500) == dfcclInvalidArgument);
  CHECK(says("is not aligned to the 4 bytes of float32"));
  CHECK(run(good.data() + 901, good.data()) == dfcclInvalidArgument);
  CHECK(says("has 396 bytes left in its allocation, and a run needs 400"));
  CHECK(run(good.data(), good.data() + 50) == dfcclInvalidArgument);
  CHECK(says("lie where the program doesn't allow it"));
  CHECK(run(nullptr, good.data()) == dfcclInvalidArgument);
  CHECK(says("the send buffer is null"));
}

TEST_CASE("a buffer on another rank's GPU is refused before it is queued") {
  if (!hasTwoGpus()) return;
  const GpuRanks ranks;
  for (int r = 0; r < ranks.size(); ++r) {
    CHECK_OK(dfcclRegisterAllReduce(100, dfcclFloat32, dfcclSum, 1, dfcclAllRanks(), 0, ranks[r]));
  }
  const DeviceArray<float> good(0, 100), elsewhere(1, 100);
  CHECK(dfcclRun(elsewhere.data(), good.data(), 1, nullptr, nullptr, ranks[0]) == dfcclInvalidArgument);
  CHECK(says("lies on device 1, and the rank is on device 0"));
}

TEST_CASE("an operator of the caller's own is refused: its function is the host's") {
  const GpuRanks ranks;
  const DeviceArray<float> data(ranks.device(0), 100);
  dfcclRedOp_t op = dfcclSum;
  const auto nothing = [](void*, const void*, size_t, dfcclDataType_t, void*) {};
  CHECK_OK(dfcclRedOpCreate(5, nothing, nullptr, &op));
  CHECK(dfcclRegisterAllReduce(100, dfcclFloat32, op, 1, dfcclAllRanks(), 0, ranks[0]) == dfcclUnavailable);
  CHECK(says("An operator of your own is a function of the host's, and these ranks are on GPUs"));
  dfcclGroup_t group = nullptr;
  CHECK_OK(dfcclGroupCreate(nullptr, 0, 0, &group, ranks[0]));
  CHECK(dfcclAllReduce(data.data(), data.data(), 100, dfcclFloat32, op, group, 0, nullptr, nullptr) ==
        dfcclUnavailable);
  CHECK_OK(dfcclRegisterAllReduce(100, dfcclFloat32, dfcclSum, 1, dfcclAllRanks(), 0, ranks[0]));
}

TEST_CASE("a world that can't be opened says why") {
  dfcclWorld_t world = nullptr;
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = 2;
  config.backend = dfcclCuda;
  SUBCASE("a GPU that isn't there") {
    const int devices[] = {0, 99};
    config.devices = devices;
    CHECK(dfcclWorldCreate(&config, &world) == dfcclInvalidArgument);
    CHECK(says("GPU 99"));
  }
  SUBCASE("too little memory") {
    config.arenaBytes = size_t{1} << 50;
    CHECK(dfcclWorldCreate(&config, &world) == dfcclOutOfMemory);
    CHECK(says("Free device memory"));
  }
  SUBCASE("larger tables than a GPU has") {
    config.collectives = 4096;
    CHECK(dfcclWorldCreate(&config, &world) == dfcclInvalidArgument);
    CHECK(says("1024 collectives"));
  }
  SUBCASE("the in-order mode") {
    config.streams = 1;
    CHECK(dfcclWorldCreate(&config, &world) == dfcclInvalidArgument);
    CHECK(says("no in-order mode"));
  }
  SUBCASE("an arena that is too small for the queues") {
    config.arenaBytes = 4096;
    CHECK(dfcclWorldCreate(&config, &world) == dfcclOutOfMemory);
  }
}

TEST_CASE("an arena that is full says so, and takes more once something is unregistered") {
  const GpuRanks ranks;
  int registered = 0;
  dfcclResult_t result = dfcclSuccess;
  // Exchanges have memory of their own to land in.
  while (registered < 1024 && result == dfcclSuccess) {
    result = dfcclRegisterAllReduce(16000, dfcclFloat32, dfcclSum, registered, dfcclAllRanks(), 0, ranks[0]);
    if (result == dfcclSuccess) ++registered;
  }
  CHECK(registered > 500);
  if (registered < 1024) CHECK(result == dfcclOutOfMemory);
  CHECK_OK(dfcclUnregister(0, ranks[0]));
  CHECK_OK(dfcclRegisterAllReduce(16000, dfcclFloat32, dfcclSum, 5000, dfcclAllRanks(), 0, ranks[0]));
}

TEST_CASE("a rank that never calls is named when the wait's time is over; the run completes when it comes") {
  const GpuRanks ranks;
  std::vector<DeviceArray<float>> x;
  for (int r = 0; r < ranks.size(); ++r) {
    x.emplace_back(ranks.device(r), 100);
    CHECK_OK(dfcclRegisterAllReduce(100, dfcclFloat32, dfcclSum, 3, dfcclAllRanks(), 0, ranks[r]));
  }
  CHECK_OK(dfcclRun(x[0].data(), x[0].data(), 3, nullptr, nullptr, ranks[0]));
  CHECK(dfcclWaitFor(50'000, ranks[0]) == dfcclTimeout);
  CHECK(says("rank 1 has not submitted it"));
  CHECK(dfcclUnregister(3, ranks[0]) == dfcclInUse);
  CHECK(dfcclDestroy(ranks[0]) == dfcclInUse);
  for (int r = 1; r < ranks.size(); ++r) {
    float* const data = x[static_cast<size_t>(r)].data();
    CHECK_OK(dfcclRun(data, data, 3, nullptr, nullptr, ranks[r]));
  }
  CHECK_OK(ranks.waitAll());
}

// Who looks for the cause of a hang looks at another place of that rank's program.
TEST_CASE("a rank whose stream hasn't come to a run is told from one that hasn't submitted it") {
  const GpuRanks ranks;
  const int last = ranks.size() - 1;
  std::vector<DeviceArray<float>> x;
  for (int r = 0; r < ranks.size(); ++r) {
    x.emplace_back(ranks.device(r), 100);
    CHECK_OK(dfcclRegisterAllReduce(100, dfcclFloat32, dfcclSum, 3, dfcclAllRanks(), 0, ranks[r]));
  }
  const auto dataOf = [&](int rank) { return x[static_cast<size_t>(rank)].data(); };
  const Stream stream(ranks.device(last));
  Word word;
  word.letWait(stream);
  CHECK_OK(dfcclRunOnStream(dataOf(last), dataOf(last), 3, stream, nullptr, nullptr, ranks[last]));
  for (int r = 0; r < last; ++r) CHECK_OK(dfcclRun(dataOf(r), dataOf(r), 3, nullptr, nullptr, ranks[r]));
  const std::string waits = "rank " + std::to_string(last) + " waits for its stream or its GPU";
  CHECK(dfcclWaitFor(50'000, ranks[0]) == dfcclTimeout);
  CHECK(says(waits.c_str()));
  CHECK(dfcclWaitFor(50'000, ranks[last]) == dfcclTimeout);
  CHECK(says(waits.c_str()));
  word.open();
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("ranks that disagree about an id are told in which field") {
  const GpuRanks ranks;
  CHECK_OK(dfcclRegisterAllReduce(100, dfcclFloat32, dfcclSum, 4, dfcclAllRanks(), 0, ranks[0]));
  CHECK(dfcclRegisterAllReduce(101, dfcclFloat32, dfcclSum, 4, dfcclAllRanks(), 0, ranks[1]) ==
        dfcclRegistrationMismatch);
  CHECK(says("count"));
  CHECK(dfcclRegisterAllReduce(100, dfcclFloat32, dfcclSum, 4, dfcclAllRanks(), 0, ranks[0]) == dfcclAlreadyRegistered);
}

TEST_CASE("an abort ends a stuck run at once, and later ones, until the id is registered again") {
  const GpuRanks ranks;
  std::vector<DeviceArray<int32_t>> x, zeros;
  for (int r = 0; r < ranks.size(); ++r) {
    x.emplace_back(ranks.device(r), 100'000);
    x.back().set(std::vector<int32_t>(100'000, r + 1));
    zeros.emplace_back(ranks.device(r), 100'000);
    zeros.back().set(std::vector<int32_t>(100'000));
    for (const int id : {5, 6}) {
      CHECK_OK(dfcclRegisterAllReduce(100'000, dfcclInt32, dfcclSum, id, dfcclAllRanks(), 0, ranks[r]));
    }
  }
  for (int round = 0; round < 100; ++round) {
    std::vector<dfcclResult_t> statuses;
    const auto note = [](void* list, dfcclResult_t status) {
      static_cast<std::vector<dfcclResult_t>*>(list)->push_back(status);
    };
    CHECK_OK(dfcclRun(x[0].data(), x[0].data(), 5, note, &statuses, ranks[0]));
    // At once; in a stay, when the daemon has done other things meanwhile; when a stay has just ended.
    for (int run = 0; run < round % 8; ++run) {
      for (int r = 0; r < ranks.size(); ++r) {
        int32_t* const data = zeros[static_cast<size_t>(r)].data();
        CHECK_OK(dfcclRun(data, data, 6, nullptr, nullptr, ranks[r]));
      }
      for (int r = 1; r < ranks.size(); ++r) CHECK_OK(dfcclWait(ranks[r]));
    }
    if (round % 16 >= 8) CHECK_OK(dfcclSynchronize(ranks[0]));
    const auto begin = std::chrono::steady_clock::now();
    CHECK_OK(dfcclAbort(5, ranks[0]));
    const double called = microsSince(begin);
    CHECK_OK(dfcclWaitFor(2'000'000, ranks[0]));
    const double ended = microsSince(begin);
    if (round % 25 == 0) MESSAGE("abort returned after ", called, " us, the run ended after ", ended, " us");
    CHECK(statuses == std::vector<dfcclResult_t>{dfcclAborted});
    // A peer that comes late gets the same answer.
    CHECK_OK(dfcclRun(x[1].data(), x[1].data(), 5, note, &statuses, ranks[1]));
    CHECK_OK(dfcclWaitFor(2'000'000, ranks[1]));
    CHECK((!statuses.empty() && statuses.back() == dfcclAborted));
    int isOver = 0;
    while (isOver == 0 && microsSince(begin) < 2e6) CHECK_OK(dfcclIsQuarantineOver(5, &isOver, ranks[0]));
    CHECK(isOver == 1);
    for (int r = 0; r < ranks.size(); ++r) {
      CHECK_OK(dfcclUnregister(5, ranks[r]));
      CHECK_OK(dfcclRegisterAllReduce(100'000, dfcclInt32, dfcclSum, 5, dfcclAllRanks(), 0, ranks[r]));
    }
  }
  // The other id never noticed.
  int32_t sum = 0;
  for (int r = 0; r < ranks.size(); ++r) {
    sum += r + 1;
    int32_t* const data = x[static_cast<size_t>(r)].data();
    CHECK_OK(dfcclRun(data, data, 6, nullptr, nullptr, ranks[r]));
  }
  CHECK_OK(ranks.waitAll());
  CHECK(x[1].get() == std::vector<int32_t>(100'000, sum));
}

namespace {

/// Leaks a world in which rank 0 waits for the others.
void leaveRunInFlight() {
  auto* ranks = new GpuRanks;
  auto* x = new DeviceArray<float>(ranks->device(0), 100);
  for (int r = 0; r < ranks->size(); ++r) {
    CHECK_OK(dfcclRegisterAllReduce(100, dfcclFloat32, dfcclSum, 1, dfcclAllRanks(), 0, (*ranks)[r]));
  }
  CHECK_OK(dfcclRun(x->data(), x->data(), 1, nullptr, nullptr, (*ranks)[0]));
  CHECK(dfcclWaitFor(10'000, (*ranks)[0]) == dfcclTimeout);
}

const Child returnsWithRun("returns with a run in flight", leaveRunInFlight);
const Child exitsWithRun("exits with a run in flight", [] {
  leaveRunInFlight();
  exit(0);
});

}  // namespace

TEST_CASE("a process may exit with daemons running") {
  for (const char* name : {"returns with a run in flight", "exits with a run in flight"}) {
    const ChildEnd end = runSelf({}, {{"DFCCL_TEST_CHILD", name}}, std::chrono::seconds(20));
    INFO(name);
    CHECK(end.hasEnded);
    CHECK(end.code == 0);
  }
}
