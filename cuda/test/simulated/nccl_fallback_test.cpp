#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
// Communicators that are another NCCL's, which is one of the test's own. Each test is a process, or several: what the
// environment names is opened once.
#include "simulated/beside_fake_nccl.hpp"

using namespace dfccl::nccl::test;

TEST_CASE("all of a communicator's calls go to the other NCCL where the environment says all") {
  inProcess([]() -> int {
    name(fakePath(), "all");
    int version = 0, count = 0, rank = -1;
    OK(ncclGetVersion(&version));
    EXPECT(version == kFakeVersion);
    ncclUniqueId id{};
    OK(ncclGetUniqueId(&id));
    EXPECT(id.internal[0] == kFakeId);
    ncclComm_t comm = nullptr, part = nullptr;
    OK(ncclCommInitRank(&comm, 5, id, 3));  // nobody is waited for: the fake one waits for none
    OK(ncclCommCount(comm, &count));
    OK(ncclCommUserRank(comm, &rank));
    EXPECT(count == 5 && rank == 3);
    ncclResult_t error = ncclSuccess;
    OK(ncclCommGetAsyncError(comm, &error));
    EXPECT(error == ncclTimeout);
    const Buffer send(kCount, 1), recv(kCount, 0);
    OK(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comm, nullptr));
    EXPECT(recv.isAll(kFakeSum + 3));
    void* memory = nullptr;
    OK(ncclMemAlloc(&memory, 100));
    EXPECT(fakeCount(kFakeMemAlloc) == 1);
    OK(ncclMemFree(memory));
    // What this library refuses, there is there.
    ncclWindow_t window = nullptr;
    OK(ncclCommWindowRegister(comm, send, 4 * kCount, &window, 0));
    void* pointer = nullptr;
    OK(ncclGetPeerDevicePointer(window, 8, 0, &pointer));
    EXPECT(pointer == send.data() + 2);
    OK(ncclCommSplit(comm, 0, 0, &part, nullptr));
    OK(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, part, nullptr));
    EXPECT(recv.isAll(kFakeSum));
    EXPECT(fakeCount(kFakeAllReduce) == 2);
    OK(ncclCommAbort(part));
    OK(ncclCommSplit(comm, -1, 0, &part, nullptr));
    EXPECT(part == nullptr);
    OK(ncclCommDestroy(comm));
    EXPECT(fakeCount(kFakeSplit) == 2 && fakeCount(kFakeAbort) == 1 && fakeCount(kFakeDestroy) == 1);
    EXPECT(ncclCommCount(comm, &count) == ncclInvalidArgument);
    return kFine;
  });
}

TEST_CASE("the other NCCL calls its own functions, also where the program has it loaded, behind this library") {
  inProcess([]() -> int {
    EXPECT(dlopen(fakePath().c_str(), RTLD_LAZY | RTLD_GLOBAL) != nullptr);  // as a library's dependency would be
    name(fakePath(), "all");
    ncclUniqueId id{};
    OK(ncclGetUniqueId(&id));
    ncclComm_t comm = nullptr;
    OK(ncclCommInitRank(&comm, 5, id, 3));
    const Buffer send(kCount, 1), recv(kCount, 0);
    OK(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comm, nullptr));
    EXPECT(recv.isAll(kFakeSum + 3));
    OK(ncclCommDestroy(comm));
    return kFine;
  });
}

TEST_CASE("what is made of its communicators is the other NCCL's own, and so are operators") {
  inProcess([]() -> int {
    name(fakePath(), "all");
    ncclUniqueId id{};
    OK(ncclGetUniqueId(&id));
    ncclComm_t comm = nullptr, rest = nullptr, grown = nullptr, joined = nullptr;
    OK(ncclCommInitRank(&comm, 5, id, 3));
    const auto ranksOf = [](ncclComm_t one) {
      int ranks = 0;
      return ncclCommCount(one, &ranks) == ncclSuccess ? ranks : -1;
    };
    int excluded[] = {0, 1};
    OK(ncclCommShrink(comm, excluded, 2, &rest, nullptr, 0));
    EXPECT(ranksOf(rest) == 3);
    OK(ncclCommGetUniqueId(comm, &id));
    OK(ncclCommGrow(comm, 7, &id, -1, &grown, nullptr));
    EXPECT(ranksOf(grown) == 7);
    OK(ncclCommGrow(nullptr, 8, &id, 7, &joined, nullptr));
    EXPECT(ranksOf(joined) == 8);
    float scalar = 2;
    ncclRedOp_t op = ncclSum;
    OK(ncclRedOpCreatePreMulSum(&op, &scalar, ncclFloat32, ncclScalarHostImmediate, joined));
    EXPECT(op == kFakeOp);
    const Buffer send(kCount, 1), recv(kCount, 0);
    OK(ncclAllReduce(send, recv, kCount, ncclFloat32, op, joined, nullptr));
    EXPECT(recv.isAll(kFakeSum + 7));
    OK(ncclRedOpDestroy(op, joined));
    for (ncclComm_t one : {comm, rest, grown, joined}) OK(ncclCommDestroy(one));
    EXPECT(fakeCount(kFakeDestroy) == 4);
    return kFine;
  });
}

TEST_CASE("a config reaches the other NCCL, and one that doesn't block is asked until it is made") {
  inProcess([]() -> int {
    name(fakePath(), "all");
    ncclUniqueId id{};
    OK(ncclGetUniqueId(&id));
    ncclConfig_t config = configThatDoesNotBlock();
    std::string given = kFakeName;
    config.commName = given.c_str();
    ncclComm_t comm = nullptr;
    EXPECT(ncclCommInitRankConfig(&comm, 2, id, 0, &config) == ncclInProgress);
    given = "gone";  // it was the caller's
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) {
      OK(ncclCommGetAsyncError(comm, &state));
      std::this_thread::yield();
    }
    EXPECT(state == ncclTimeout);  // which the fake one always says
    OK(ncclCommAbort(comm));
    EXPECT(fakeCount(kFakeAbort) == 1);
    config.blocking = 1;
    config.commName = given.c_str();
    EXPECT(ncclCommInitRankConfig(&comm, 2, id, 0, &config) == ncclInvalidUsage);
    return kFine;
  });
}

TEST_CASE("one that becomes the other NCCL's while it is asked for its error never answers for itself") {
  inProcess([]() -> int {
    name(fakePath(), "all");
    ncclUniqueId id{};
    OK(ncclGetUniqueId(&id));
    ncclConfig_t config = configThatDoesNotBlock();
    config.commName = kFakeName;
    constexpr int kTimes = 2000;
    for (int i = 0; i < kTimes; ++i) {
      ncclComm_t comm = nullptr;
      EXPECT(ncclCommInitRankConfig(&comm, 2, id, 0, &config) == ncclInProgress);
      ncclResult_t state = ncclInProgress;
      while (state == ncclInProgress) OK(ncclCommGetAsyncError(comm, &state));
      EXPECT(state == ncclTimeout);
      OK(ncclCommAbort(comm));
    }
    return kFine;
  });
}

TEST_CASE("what goes wrong in the other NCCL, and what it lacks, is told") {
  inProcess([]() -> int {
    name(fakePath(), "all");
    ncclUniqueId id{};
    OK(ncclGetUniqueId(&id));
    ncclComm_t comm = nullptr;
    OK(ncclCommInitRank(&comm, 1, id, 0));
    const Buffer buffer(kCount, 1);
    EXPECT(ncclBroadcast(buffer, buffer, kCount, ncclFloat32, 0, comm, nullptr) == ncclSystemError);
    EXPECT(saysLast("ncclBroadcast: ") && saysLast("the fake one's last error"));
    EXPECT(ncclAlltoAll(buffer, buffer, kCount, ncclFloat32, comm, nullptr) == ncclInvalidUsage);
    EXPECT(saysLast("has no ncclAlltoAll"));
    id.internal[127] = 0;
    ncclComm_t none = nullptr;
    EXPECT(ncclCommInitRank(&none, 1, id, 0) == ncclInvalidArgument);
    EXPECT(none == nullptr);
    OK(ncclCommDestroy(comm));
    return kFine;
  });
}

TEST_CASE("ranks of which some share a process fall back, agreed on among them, and say so once; others don't") {
  constexpr int kRanks = 3;
  const std::vector<ncclUniqueId> ids = newIds(3);
  Processes processes(2, [&](uint32_t process) -> int {
    name(fakePath());
    const std::vector<int> own = process == 0 ? std::vector{0, 1} : std::vector{2};
    int wrong = 0;
    const auto communicate = [&](const ncclUniqueId& id) {
      std::vector<std::thread> threads;
      std::atomic<int> failures{0};
      for (const int rank : own) {
        threads.emplace_back([&, rank] {
          cudaSetDevice(rank);
          ncclComm_t comm = nullptr;
          const Buffer send(kCount, 1), recv(kCount, 0);
          const bool isFine = ncclCommInitRank(&comm, kRanks, id, rank) == ncclSuccess &&
                              ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comm, nullptr) == ncclSuccess &&
                              recv.isAll(kFakeSum + static_cast<float>(rank)) && ncclCommDestroy(comm) == ncclSuccess;
          if (!isFine) ++failures;
        });
      }
      for (std::thread& thread : threads) thread.join();
      wrong += failures;
    };
    const std::string said = printedBy([&] {
      communicate(ids[0]);
      communicate(ids[1]);
    });
    EXPECT(wrong == 0);
    EXPECT(said == "dfccl: communicators go to " + fakePath() +
                       ", in which orders matter: some ranks of a communicator share a process, and others don't.\n");
    EXPECT(fakeCount(kFakeUniqueId) == (process == 0 ? 2 : 0));
    // One of a rank for each process is this library's.
    cudaSetDevice(static_cast<int>(process));
    ncclComm_t pair = nullptr;
    OK(ncclCommInitRank(&pair, 2, ids[2], static_cast<int>(process)));
    const RankStream stream;
    EXPECT(sumOnes(pair, stream, 100) == kFine);
    OK(ncclCommDestroy(pair));
    return kFine;
  });
  for (uint32_t p = 0; p < 2; ++p) CHECK(processes.join(p) == kFine);
}

TEST_CASE("where one process names no other NCCL, all are refused") {
  const std::vector<ncclUniqueId> ids = newIds(1);
  Processes processes(2, [&](uint32_t process) -> int {
    if (process == 0) name(fakePath());
    const std::vector<int> own = process == 0 ? std::vector{0, 1} : std::vector{2};
    std::atomic<int> refused{0};
    std::vector<std::thread> threads;
    for (const int rank : own) {
      threads.emplace_back([&, rank] {
        cudaSetDevice(rank);
        ncclComm_t comm = nullptr;
        if (ncclCommInitRank(&comm, 3, ids[0], rank) == ncclInvalidUsage && saysLast("DFCCL_REAL_NCCL")) ++refused;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT(refused == static_cast<int>(own.size()));
    return kFine;
  });
  for (uint32_t p = 0; p < 2; ++p) CHECK(processes.join(p) == kFine);
}

TEST_CASE("nonsense in the environment is refused with a sentence") {
  const std::tuple<std::string, const char*, const char*> wrong[] = {
      {fakePath(), "some", "DFCCL_REAL_NCCL_FOR is some."},
      {"", "all", "no library is named"},
      {"/nowhere/libnccl.so.2", "all", "can't be opened"},
      {"libnccl.so.2", "all", "has no folder in it"},
      {std::filesystem::read_symlink("/proc/self/exe"), "all", "can't be opened"},
  };
  for (const auto& [library, what, sentence] : wrong) {
    CAPTURE(sentence);
    inProcess([&]() -> int {
      name(library, what);
      ncclUniqueId id{};
      EXPECT(ncclGetUniqueId(&id) != ncclSuccess);
      EXPECT(saysLast(sentence));
      return kFine;
    });
  }
}

TEST_CASE("an id that was made where the environment doesn't say all is refused") {
  const ncclUniqueId id = newId();
  inProcess([&]() -> int {
    name(fakePath(), "all");
    ncclComm_t comm = nullptr;
    EXPECT(ncclCommInitRank(&comm, 1, id, 0) == ncclInvalidArgument);
    EXPECT(saysLast("Set it to the same on all ranks."));
    return kFine;
  });
}
