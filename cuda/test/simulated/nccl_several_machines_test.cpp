// Communicators whose ranks are on several machines: they come to the meeting through the process that made the id, and
// the communicator is the other NCCL's, if all name one.
#include "nccl_api/machines/own_addresses.hpp"
#include "simulated/on_machines.hpp"

using namespace dfccl::nccl::test;

TEST_CASE("a communicator of two machines is the other NCCL's, and says so; of one machine's ranks it is this one's") {
  const SharedId pairs[2];
  onMachines(4, halves, [&](uint32_t rank, const SharedId& id) -> int {
    name(fakePath());
    if (rank == 0) OK(id.make());
    const std::string said = printedBy([&] {
      ncclComm_t comm = nullptr;
      const Buffer send(kCount, 1), recv(kCount, 0);
      for (int round = 0; round < 2; ++round) {
        const bool isFine = (round == 0 ? ncclCommInitRank(&comm, 4, id.get(), static_cast<int>(rank))
                                        : ncclCommSplit(comm, 0, 0, &comm, nullptr)) == ncclSuccess &&
                            ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comm, nullptr) == ncclSuccess;
        if (!isFine) std::fprintf(stderr, "%s\n", ncclGetLastError(nullptr));
      }
    });
    EXPECT(said == "dfccl: communicators go to " + fakePath() +
                       ", in which orders matter: a communicator's ranks are on several machines.\n");
    EXPECT(fakeCount(kFakeInit) == 1 && fakeCount(kFakeAllReduce) == 2);
    EXPECT(fakeCount(kFakeUniqueId) == (rank == 0 ? 1 : 0));
    const SharedId& ofPair = pairs[rank / 2];
    if (rank % 2 == 0) OK(ofPair.make());
    ncclComm_t pair = nullptr;
    OK(ncclCommInitRank(&pair, 2, ofPair.get(), static_cast<int>(rank % 2)));
    const RankStream stream;
    EXPECT(sumOnes(pair, stream, 100) == kFine);
    OK(ncclCommDestroy(pair));
    EXPECT(fakeCount(kFakeInit) == 1);
    id.meet(4);
    return kFine;
  });
}

TEST_CASE("ranks that are together on another machine than the id was made on have a communicator of this library") {
  onMachines(3, others, [](uint32_t rank, const SharedId& id) -> int {
    name(fakePath());
    if (rank == 0) {
      OK(id.make());
    } else {
      ncclComm_t comm = nullptr;
      OK(ncclCommInitRank(&comm, 2, id.get(), static_cast<int>(rank) - 1));
      const RankStream stream;
      EXPECT(sumOnes(comm, stream, 100) == kFine);
      OK(ncclCommDestroy(comm));
    }
    id.meet(3);
    return kFine;
  });
}

TEST_CASE("where one rank of several machines names no other NCCL, all are refused, and none waits") {
  for (const uint32_t without : {1u, 2u}) {
    onMachines(3, others, [&](uint32_t rank, const SharedId& id) -> int {
      if (rank != without) name(fakePath());
      if (rank == 0) OK(id.make());
      ncclComm_t comm = nullptr;
      EXPECT(ncclCommInitRank(&comm, 3, id.get(), static_cast<int>(rank)) == ncclInvalidUsage);
      EXPECT(comm == nullptr);
      EXPECT(saysLast("on several machines") && saysLast("DFCCL_REAL_NCCL"));
      id.meet(3);
      return kFine;
    });
  }
}

TEST_CASE("where the id is made without another NCCL, ranks of other machines are refused at once") {
  onMachines(2, others, [](uint32_t rank, const SharedId& id) -> int {
    if (rank == 0) {
      OK(id.make());
    } else {
      name(fakePath());
      ncclComm_t comm = nullptr;
      EXPECT(ncclCommInitRank(&comm, 2, id.get(), 1) == ncclInvalidArgument);
      EXPECT(saysLast("made on another machine") && saysLast("DFCCL_REAL_NCCL"));
    }
    id.meet(2);
    return kFine;
  });
}

TEST_CASE("what is wrong with a rank from another machine is told there") {
  onMachines(2, others, [](uint32_t rank, const SharedId& id) -> int {
    name(fakePath());
    setenv("DFCCL_JOIN_TIMEOUT", "1", 1);
    if (rank == 0) OK(id.make());
    ncclUniqueId here = id.get();
    ncclComm_t comm = nullptr;
    if (rank == 1) {
      // Nobody else comes.
      EXPECT(ncclCommInitRank(&comm, 3, here, 2) == ncclTimeout);
      EXPECT(saysLast("these did not come within 1 s: 0, 1."));
      EXPECT(ncclCommInitRank(&comm, 3, here, 2) == ncclTimeout);
      here.internal[17] ^= 1;  // of its name
      EXPECT(ncclCommInitRank(&comm, 3, here, 2) == ncclInvalidArgument);
      EXPECT(saysLast("has made no such unique id"));
    }
    id.meet(2);
    return kFine;
  });
}

TEST_CASE("a rank that comes twice, from whichever machine, is refused") {
  onMachines(2, others, [](uint32_t rank, const SharedId& id) -> int {
    name(fakePath());
    setenv("DFCCL_JOIN_TIMEOUT", "3", 1);
    if (rank == 0) OK(id.make());
    const ncclUniqueId here = id.get();
    if (rank == 1) {
      ncclConfig_t config = configThatDoesNotBlock();
      ncclComm_t first = nullptr, second = nullptr;
      EXPECT(ncclCommInitRankConfig(&first, 3, here, 2, &config) == ncclInProgress);
      EXPECT(ncclCommInitRankConfig(&second, 3, here, 2, &config) == ncclInProgress);
      ncclResult_t states[2] = {ncclInProgress, ncclInProgress};
      while (states[0] == ncclInProgress && states[1] == ncclInProgress) {
        OK(ncclCommGetAsyncError(first, &states[0]));
        OK(ncclCommGetAsyncError(second, &states[1]));
        std::this_thread::yield();
      }
      EXPECT(states[0] == ncclInvalidArgument || states[1] == ncclInvalidArgument);
      // And the other one may be given up.
      OK(ncclCommAbort(first));
      OK(ncclCommAbort(second));
    }
    id.meet(2);
    return kFine;
  });
}

TEST_CASE("interfaces are chosen as NCCL_SOCKET_IFNAME has it") {
  using dfccl::nccl::isAllowed;
  CHECK(isAllowed("eth0", ""));
  CHECK_FALSE(isAllowed("lo", ""));
  CHECK_FALSE(isAllowed("docker0", ""));
  CHECK(isAllowed("lo", "lo"));
  CHECK(isAllowed("eth1", "ib,eth"));
  CHECK_FALSE(isAllowed("docker0", "ib,eth"));
  CHECK_FALSE(isAllowed("eth10", "=eth1"));
  CHECK(isAllowed("eth1", "=eth1"));
  CHECK_FALSE(isAllowed("docker0", "^docker,lo"));
  CHECK(isAllowed("eth0", "^docker,lo"));
  CHECK(isAllowed("eth10", "^=eth1"));
  CHECK_FALSE(dfccl::nccl::ownAddresses().empty());
}
