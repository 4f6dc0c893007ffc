// How ranks that are processes meet, and which worlds they are in.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "call_beside.hpp"
#include "nccl_api/test/processes.hpp"
#include "nccl_api/universe/arrivals.hpp"

using namespace dfccl::nccl::test;
using dfccl::gpu::test::comesToHold;

namespace {

/// Worlds of processes that this process is in.
size_t openWorlds() {
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> inodes;
  for (std::string line; std::getline(maps, line);) {
    std::string addresses, mode, offset, device, inode, path;
    std::istringstream(line) >> addresses >> mode >> offset >> device >> inode >> path;
    if (path == "/memfd:dfccl") inodes.insert(inode);
  }
  return inodes.size();
}

/// Gives this process a /dev/shm of its own. @return false: it isn't allowed to.
bool takeOwnShm() {
  return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && mount("none", "/dev/shm", "tmpfs", 0, nullptr) == 0;
}

/// As a child finds out.
bool canHaveOwnShm() {
  const pid_t child = fork();
  if (child == 0) _exit(takeOwnShm() ? 0 : 1);
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

TEST_CASE("a rank that doesn't come is named when the time is over") {
  onProcesses(1, 1, [](uint32_t, const std::vector<ncclUniqueId>& ids) -> int {
    setenv("DFCCL_JOIN_TIMEOUT", "1", 1);
    ncclComm_t comm = nullptr;
    EXPECT(ncclCommInitRank(&comm, 3, ids[0], 1) == ncclTimeout);
    EXPECT(comm == nullptr);
    EXPECT(std::string(ncclGetLastError(nullptr)).find("these did not come within 1 s: 0, 2.") != std::string::npos);
    return kFine;
  });
}

// It was told so after a minute, whatever the variable said.
TEST_CASE("a rank that meets the others and doesn't join their world is missed when the time is over") {
  onProcesses(2, 1, [](uint32_t rank, const std::vector<ncclUniqueId>& ids) -> int {
    setenv("DFCCL_JOIN_TIMEOUT", "1", 1);
    if (rank == 1) {
      dfccl::nccl::Arrival own{};
      own.process = 1;
      own.meetingPlace = dfccl::nccl::meetingPlace();
      own.device = 1;
      EXPECT(dfccl::nccl::meet(dfccl::nccl::nameOf(ids[0]), 2, 1, own, [] { return false; }).size() == 2);
      return kFine;
    }
    ncclComm_t comm = nullptr;
    EXPECT(ncclCommInitRank(&comm, 2, ids[0], 0) == ncclTimeout);
    EXPECT(comm == nullptr);
    EXPECT(std::string(ncclGetLastError(nullptr)).find(" within 1.000 s.") != std::string::npos);
    return kFine;
  });
}

// The first one's time was over before it began.
TEST_CASE("ranks may be given any time to come") {
  onProcesses(2, 1, [](uint32_t rank, const std::vector<ncclUniqueId>& ids) -> int {
    setenv("DFCCL_JOIN_TIMEOUT", "9223372036854775807", 1);
    ncclComm_t comm = nullptr;
    OK(ncclCommInitRank(&comm, 2, ids[0], static_cast<int>(rank)));
    OK(ncclCommDestroy(comm));
    return kFine;
  });
}

TEST_CASE("NCCL_COMM_BLOCKING says whether communicators block, whatever their configs say") {
  onProcesses(1, 1, [](uint32_t, const std::vector<ncclUniqueId>&) -> int {
    ncclConfig_t config = configThatDoesNotBlock();
    ncclComm_t comms[2] = {};
    setenv("NCCL_COMM_BLOCKING", "1", 1);
    OK(ncclCommInitRankConfig(&comms[0], 1, newId(), 0, &config));
    setenv("NCCL_COMM_BLOCKING", "0", 1);
    EXPECT(ncclCommInitRank(&comms[1], 1, newId(), 0) == ncclInProgress);
    const auto isMade = [&] {
      ncclResult_t state = ncclInProgress;
      return ncclCommGetAsyncError(comms[1], &state) == ncclSuccess && state == ncclSuccess;
    };
    EXPECT(comesToHold(isMade));
    for (const ncclComm_t comm : comms) OK(ncclCommDestroy(comm));
    return kFine;
  });
}

// They waited for each other, each in files of its own, until the time was over.
TEST_CASE("an id of a process that has another /dev/shm is refused" * doctest::skip(!canHaveOwnShm())) {
  const ncclUniqueId id = newId();
  Processes processes(1, [&](uint32_t) -> int {
    EXPECT(takeOwnShm());  // before CUDA has threads: a process with several gets no users of its own
    cudaSetDevice(deviceOf(0));
    ncclComm_t comm = nullptr;
    EXPECT(ncclCommInitRank(&comm, 2, id, 0) == ncclInvalidArgument);
    EXPECT(std::string(ncclGetLastError(nullptr)).find("another /dev/shm") != std::string::npos);
    return kFine;
  });
  CHECK(processes.join(0) == kFine);
}

TEST_CASE("ranks of which some share a process are refused") {
  onProcesses(2, 1, [](uint32_t process, const std::vector<ncclUniqueId>& ids) -> int {
    ncclComm_t comms[2] = {};
    OK(ncclGroupStart());
    for (uint32_t i = 0; i <= process; ++i) {
      OK(ncclCommInitRank(&comms[i], 3, ids[0], static_cast<int>(process + i)));
    }
    EXPECT(ncclGroupEnd() == ncclInvalidUsage);
    EXPECT(std::string(ncclGetLastError(nullptr)).find("share a process") != std::string::npos);
    EXPECT(comms[0] == nullptr);
    return kFine;
  });
}

// The process ended by std::terminate().
TEST_CASE("where no thread can be had, communicators that are made together fail, and later ones don't") {
  onProcesses(1, 1, [](uint32_t, const std::vector<ncclUniqueId>& ids) -> int {
    rlimit before{};
    EXPECT(getrlimit(RLIMIT_AS, &before) == 0);
    ncclComm_t comms[2] = {};
    OK(ncclGroupStart());
    for (int r = 0; r < 2; ++r) OK(ncclCommInitRank(&comms[r], 2, ids[0], r));
    const rlimit none{1 << 20, before.rlim_max};  // nothing is mapped any more, a thread's stack neither
    EXPECT(setrlimit(RLIMIT_AS, &none) == 0);
    const ncclResult_t result = ncclGroupEnd();
    EXPECT(setrlimit(RLIMIT_AS, &before) == 0);
    EXPECT(result == ncclSystemError);
    EXPECT(std::string(ncclGetLastError(nullptr)).find("refuses a thread") != std::string::npos);
    EXPECT(comms[0] == nullptr && comms[1] == nullptr);
    ncclComm_t alone = nullptr;
    OK(ncclCommInitRank(&alone, 1, newId(), 0));
    OK(ncclCommDestroy(alone));
    return kFine;
  });
}

TEST_CASE("of worlds without communicators two are kept, unless a process has left them") {
  constexpr uint32_t kRanks = 4;
  int mayEnd[2];
  REQUIRE(pipe(mayEnd) == 0);
  onProcesses(kRanks, kRanks, [&](uint32_t rank, const std::vector<ncclUniqueId>& ids) -> int {
    const RankStream stream;
    // Rank 0 is in a pair with each of the others.
    for (uint32_t other = 1; other < kRanks; ++other) {
      if (rank != 0 && rank != other) continue;
      ncclComm_t pair = nullptr;
      OK(ncclCommInitRank(&pair, 2, ids[other], rank == 0 ? 0 : 1));
      EXPECT(sumOnes(pair, stream, 10) == kFine);
      OK(ncclCommDestroy(pair));
    }
    char byte = 0;
    if (rank != 0) return read(mayEnd[0], &byte, 1) == 1 ? kFine : kWrong;
    EXPECT(openWorlds() == 3);
    const auto comeToBe = [&](size_t worlds) {
      return comesToHold([&] {
        ncclComm_t alone = nullptr;
        const bool isMade = ncclCommInitRank(&alone, 1, newId(), 0) == ncclSuccess;
        ncclCommDestroy(alone);
        return isMade && openWorlds() == worlds;
      });
    };
    EXPECT(comeToBe(2));
    EXPECT(write(mayEnd[1], "123", 3) == 3);
    EXPECT(comeToBe(0));
    return kFine;
  });
  close(mayEnd[0]);
  close(mayEnd[1]);
}
