// Communicators that a rank gives up while others wait for it, and what is left of their meetings.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>

#include "nccl_api/test/ranks.hpp"
#include "nccl_api/universe/meeting_room.hpp"

using namespace dfccl::nccl::test;
using dfccl::nccl::MeetingTable;
using dfccl::nccl::Name;

namespace {

std::string roomOf(const Name& name) { return "/dev/shm/dfccl-nccl-" + name.text(); }
bool isThere(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

/// A room that a killed process has left.
class LeftRoom {
 public:
  explicit LeftRoom(uint64_t expires) : path_(roomOf({0x6c656674, expires})) {
    const uint64_t head[] = {MeetingTable::kMark, expires};
    std::ofstream(path_).write(reinterpret_cast<const char*>(head), sizeof head);
    REQUIRE(isThere(path_));
  }
  ~LeftRoom() { unlink(path_.c_str()); }
  bool isStill() const { return isThere(path_); }

 private:
  const std::string path_;
};

bool hasTold(const char* part) { return std::string(ncclGetLastError(nullptr)).find(part) != std::string::npos; }

/// A rank waits for another one's, which is in that one's group when its thread goes on with `end`.
void waitForOneWhoseGroup(const ncclUniqueId& id, const std::function<void(ncclComm_t)>& end) {
  onRanks(2, [&](int rank) {
    ncclComm_t comm = nullptr;
    if (rank == 0) {
      CHECK(ncclCommInitRank(&comm, 2, id, 0) == ncclRemoteError);
      return;
    }
    CHECK_NCCL(ncclGroupStart());
    CHECK_NCCL(ncclCommInitRank(&comm, 2, id, 1));
    end(comm);
  });
}

}  // namespace

TEST_CASE("ranks that wait for one that gives the communicator up are told at once, and so is who comes later") {
  const ncclUniqueId id = newId();
  const std::string room = roomOf(dfccl::nccl::nameOf(id));
  onRanks(2, [&](int rank) {
    ncclComm_t comm = nullptr;
    if (rank == 0) {
      CHECK(ncclCommInitRank(&comm, 3, id, 0) == ncclRemoteError);
      CHECK(comm == nullptr);
      CHECK(hasTold("Rank 1 gave the communicator up"));
      return;
    }
    ncclConfig_t config = configThatDoesNotBlock();
    CHECK(ncclCommInitRankConfig(&comm, 3, id, 1, &config) == ncclInProgress);
    CHECK_NCCL(ncclCommAbort(comm));
  });
  CHECK(isThere(room));
  ncclComm_t late = nullptr;
  cudaSetDevice(deviceOf(0));
  CHECK(ncclCommInitRank(&late, 3, id, 2) == ncclRemoteError);
  CHECK(hasTold("Rank 1 gave the communicator up"));
  CHECK_FALSE(isThere(room));
}

TEST_CASE("a communicator that is destroyed in the group that was to make it is given up for the others") {
  const ncclUniqueId id = newId();
  waitForOneWhoseGroup(id, [](ncclComm_t comm) {
    CHECK_NCCL(ncclCommDestroy(comm));
    CHECK_NCCL(ncclGroupEnd());
  });
  CHECK_FALSE(isThere(roomOf(dfccl::nccl::nameOf(id))));
}

TEST_CASE("a thread that ends with a group open gives up what was to be made in it") {
  waitForOneWhoseGroup(newId(), [](ncclComm_t) {});
}

// To open a pipe takes until somebody writes to it.
TEST_CASE("what others have put where rooms are is not waited for") {
  const std::string path = roomOf({0x70697065, 1});
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const ncclUniqueId id = newId();
  onRanks(2, [&](int rank) { checkSum(Comm(id, 2, rank), 1, 2); });
  CHECK(isThere(path));
  unlink(path.c_str());
}

TEST_CASE("rooms that killed processes have left go when another one is made, once nobody can come any more") {
  const LeftRoom expired(1), lasting(UINT64_MAX);
  const ncclUniqueId id = newId();
  onRanks(2, [&](int rank) { checkSum(Comm(id, 2, rank), 1, 2); });
  CHECK_FALSE(expired.isStill());
  CHECK(lasting.isStill());
}
