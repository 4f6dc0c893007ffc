// Communicators whose ranks are on several machines: they come to the meeting through the process that made the id, and
// the communicator is the other NCCL's, if all name one. NCCL_HOSTID tells machines apart.
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <chrono>
#include <cstring>

#include "nccl_api/machines/own_addresses.hpp"
#include "simulated/beside_fake_nccl.hpp"

using namespace dfccl::nccl::test;

namespace {

/// An id that one process makes, and the others wait for.
class SharedId {
 public:
  SharedId() {
    shared_ =
        static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  ~SharedId() { munmap(shared_, sizeof(Shared)); }
  SharedId(const SharedId&) = delete;
  SharedId& operator=(const SharedId&) = delete;

  ncclResult_t make() const {
    const ncclResult_t result = ncclGetUniqueId(&shared_->id);
    shared_->isMade = 1;
    return result;
  }
  ncclUniqueId get() const {
    while (shared_->isMade == 0) std::this_thread::yield();
    return shared_->id;
  }
  /// Processes that are to wait for each other.
  void meet(int processes) const {
    ++shared_->come;
    while (shared_->come < processes) std::this_thread::yield();
  }

 private:
  struct Shared {
    ncclUniqueId id;
    std::atomic<int> isMade, come;
  };
  Shared* shared_;
};

void beOnMachine(uint32_t which) { setenv("NCCL_HOSTID", which == 0 ? "one" : "another", 1); }

/// Processes with a device each, which are on two machines in turn or as `machineOf` says; rank 0 makes the id.
void onMachines(uint32_t processes, const std::function<uint32_t(uint32_t)>& machineOf,
                const std::function<int(uint32_t rank, const SharedId& id)>& run) {
  const SharedId id;
  Processes children(processes, [&](uint32_t rank) {
    beOnMachine(machineOf(rank));
    cudaSetDevice(deviceOf(static_cast<int>(rank)));
    return run(rank, id);
  });
  for (uint32_t p = 0; p < processes; ++p) CHECK(children.join(p) == kFine);
}

uint32_t halves(uint32_t rank) { return rank / 2; }
/// All but the first one's.
uint32_t others(uint32_t rank) { return rank == 0 ? 0 : 1; }

}  // namespace

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

TEST_CASE("a process that made the id and is gone is missed on other machines") {
  for (const bool hasEnded : {false, true}) {
    const SharedId id;
    Processes maker(1, [&](uint32_t) -> int {
      name(fakePath());
      beOnMachine(0);
      OK(id.make());
      if (hasEnded) return kFine;
      for (;;) pause();
    });
    if (hasEnded) CHECK(maker.join(0) == kFine);
    Processes visitor(1, [&](uint32_t) -> int {
      name(fakePath());
      beOnMachine(1);
      cudaSetDevice(0);
      ncclConfig_t config = configThatDoesNotBlock();
      ncclComm_t comm = nullptr;
      EXPECT(ncclCommInitRankConfig(&comm, 2, id.get(), 1, &config) == ncclInProgress);
      ncclResult_t state = ncclInProgress;
      id.meet(2);
      while (state == ncclInProgress) {
        OK(ncclCommGetAsyncError(comm, &state));
        std::this_thread::yield();
      }
      EXPECT(state == ncclRemoteError);
      OK(ncclCommAbort(comm));
      return kFine;
    });
    id.meet(2);
    if (!hasEnded) maker.send(0, SIGKILL);
    CHECK(visitor.join(0) == kFine);
  }
}

// Whoever finds the port may connect.
TEST_CASE("what strangers say to the process that made an id changes nothing") {
  onMachines(2, others, [](uint32_t rank, const SharedId& id) -> int {
    name(fakePath());
    if (rank == 0) OK(id.make());
    const ncclUniqueId here = id.get();
    if (rank == 1) {
      const auto reach = dfccl::nccl::invitationOf(here).elsewhere;
      EXPECT(reach.has_value());
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(reach->port);
      for (const size_t bytes : {0, 1, 7, 8, 100, 5000}) {
        const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        EXPECT(connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        const std::string nonsense(bytes, '\x5a');
        EXPECT(send(connection, nonsense.data(), bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes));
        close(connection);
      }
    }
    ncclComm_t comm = nullptr;
    OK(ncclCommInitRank(&comm, 2, here, static_cast<int>(rank)));
    OK(ncclCommDestroy(comm));
    id.meet(2);
    return kFine;
  });
}

TEST_CASE("interfaces are chosen as NCCL_SOCKET_IFNAME has it") {
  using dfccl::nccl::isAllowed;
  CHECK(isAllowed("eth0", ""));
  CHECK_FALSE(isAllowed("lo", ""));
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
