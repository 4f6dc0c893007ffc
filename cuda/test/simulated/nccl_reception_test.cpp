// The process that made an id, as ranks of other machines and strangers find it: what they say, and when it, or they,
// are gone.
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>

#include "nccl_api/machines/request.hpp"
#include "nccl_api/universe/meeting_room.hpp"
#include "simulated/on_machines.hpp"

using namespace dfccl::nccl::test;
using dfccl::nccl::MeetingTable;

namespace {

bool isDecided(const std::string& room) {
  uint32_t outcome = 0;
  std::ifstream in(room, std::ios::binary);
  in.seekg(offsetof(MeetingTable, outcome)).read(reinterpret_cast<char*>(&outcome), sizeof outcome);
  return outcome != 0;
}

}  // namespace

TEST_CASE("a process that made the id and is gone is missed on other machines, also where children of it are there") {
  for (const bool hasEnded : {false, true}) {
    const SharedId id;
    Processes maker(1, [&](uint32_t) -> int {
      name(fakePath());
      beOnMachine(0);
      OK(id.make());
      if (fork() == 0) {
        // As a program's data loaders do. The test's end is its own.
        prctl(PR_SET_PDEATHSIG, 0);
        id.awaitEnd();
        _exit(0);
      }
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
    id.end();
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
      const auto connected = [&] {
        const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        return connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? connection : -1;
      };
      for (const size_t bytes : {0, 1, 7, 8, 100, 5000}) {
        const int connection = connected();
        const std::string nonsense(bytes, '\x5a');
        EXPECT(send(connection, nonsense.data(), bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes));
        close(connection);
      }
      // More than are let in, none of whom says anything.
      std::vector<int> silent;
      for (int i = 0; i < 200; ++i) silent.push_back(connected());
      for (const int connection : silent) close(connection);
      // A rank of another version says more, or less; its seat is the next one's.
      for (const int more : {-8, 8}) {
        dfccl::nccl::Request request{};
        request.arrivalBytes = static_cast<uint64_t>(static_cast<int64_t>(request.arrivalBytes) + more);
        request.name = dfccl::nccl::invitationOf(here).name;
        request.ranks = 2;
        request.rank = 1;
        std::vector<uint8_t> said(sizeof request + 8);
        std::memcpy(said.data(), &request, sizeof request);
        const int connection = connected();
        EXPECT(send(connection, said.data(), said.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(said.size()));
        dfccl::nccl::Answer answer{};
        EXPECT(recv(connection, &answer, sizeof answer, MSG_WAITALL) == sizeof answer);
        EXPECT(answer.result == ncclInvalidUsage);
        std::string sentence(answer.bytes, ' ');
        EXPECT(recv(connection, sentence.data(), answer.bytes, MSG_WAITALL) == static_cast<ssize_t>(answer.bytes));
        EXPECT(sentence.find("another version") != std::string::npos);
        close(connection);
      }
    }
    // One that never ends saying something.
    std::atomic<int> sent{0};
    std::jthread flood;
    if (rank == 1) {
      const auto reach = dfccl::nccl::invitationOf(here).elsewhere;
      flood = std::jthread([&sent, port = reach->port](const std::stop_token& stop) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        dfccl::nccl::Request request{};
        request.arrivalBytes = 1;
        if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
          send(connection, &request, sizeof request, MSG_NOSIGNAL);
          const std::vector<uint8_t> more(1 << 20);
          while (!stop.stop_requested() && send(connection, more.data(), more.size(), MSG_NOSIGNAL) > 0) {
            ++sent;
          }
        }
        close(connection);
      });
      while (sent < 20) std::this_thread::yield();
    }
    ncclComm_t comm = nullptr;
    OK(ncclCommInitRank(&comm, 2, here, static_cast<int>(rank)));
    OK(ncclCommDestroy(comm));
    id.meet(2);
    return kFine;
  });
}

TEST_CASE("who waits with a rank of another machine is told when that ends") {
  const SharedId id;
  Processes maker(1, [&](uint32_t) -> int {
    name(fakePath());
    beOnMachine(0);
    OK(id.make());
    const std::string room = "/dev/shm/dfccl-nccl-" + dfccl::nccl::nameOf(id.get()).text();
    while (!std::filesystem::exists(room)) std::this_thread::yield();
    id.meet(2);
    while (!isDecided(room)) std::this_thread::yield();
    ncclComm_t comm = nullptr;
    EXPECT(ncclCommInitRank(&comm, 2, id.get(), 0) == ncclRemoteError);
    EXPECT(!std::filesystem::exists(room));
    return kFine;
  });
  Processes visitor(1, [&](uint32_t) -> int {
    name(fakePath());
    beOnMachine(1);
    cudaSetDevice(0);
    ncclComm_t comm = nullptr;
    return ncclCommInitRank(&comm, 2, id.get(), 1) == ncclSuccess ? kWrong : kFine;
  });
  id.meet(2);
  visitor.send(0, SIGKILL);
  CHECK(maker.join(0) == kFine);
}
