#include "processes/rendezvous.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <bit>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "base/error.hpp"
#include "os/descriptor.hpp"
#include "os/futex.hpp"
#include "processes/support/contains.hpp"
#include "processes/support/leaks.hpp"
#include "processes/support/processes.hpp"
#include "processes/support/rendezvous_options.hpp"
#include "processes/support/tier.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

/// @return the message with which a meeting is refused; "" if it isn't.
std::string refusalOf(const RendezvousOptions& options) {
  try {
    meet(options);
    return "";
  } catch (const Error& e) {
    return e.message();
  }
}

/// The ranks that a refusal names as missing among its facts.
std::string missingOf(const RendezvousOptions& options) {
  try {
    meet(options);
  } catch (const Error& e) {
    for (const auto& [name, value] : e.facts()) {
      if (name == "missing") return value;
    }
  }
  return "";
}

Descriptor connectTo(const std::string& job) {
  const std::string name = rendezvous::socketName(job);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  Descriptor socket_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  // Refused until rank 0 listens.
  while (connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) {
    if (!awaitSockets(job, 1) || std::chrono::steady_clock::now() > deadline) return Descriptor();
  }
  return socket_;
}

}  // namespace

TEST_CASE("every rank gets the same memory, and nothing is left of the meeting") {
  const std::string job = newJob();
  Processes processes(4, [&](uint32_t rank) {
    const std::shared_ptr<Segment> segment = meet(meetingOf(job, rank, 4));
    // Each adds to a word in rank 0's area, at the same address in every process.
    Atomic<uint32_t>& bell = segment->area(0).bell;
    bell.fetchAdd(1u << (8 * rank), order::acqRel);
    sharedFutexWakeAll(&bell.value);
    for (uint32_t seen; (seen = bell.load(order::acquire)) != 0x01010101;) sharedFutexWait(&bell.value, seen, 0);
    return kFine;
  });
  for (uint32_t r = 0; r < 4; ++r) CHECK(processes.join(r) == kFine);
  CHECK(openRendezvous(job).empty());
}

TEST_CASE("a process is in worlds with some of the others, more than one, whoever makes them") {
  const std::string job = newJob();
  constexpr uint32_t kProcesses = 4;
  Processes processes(kProcesses, [&](uint32_t self) {
    std::vector<std::shared_ptr<Segment>> worlds;
    // All pairs, and all threes, each made by its lowest process; the same order everywhere, so that nobody waits.
    for (uint32_t members = 1; members < 1u << kProcesses; ++members) {
      if ((members >> self & 1) == 0 || std::popcount(members) < 2) continue;
      const auto rank = static_cast<uint32_t>(std::popcount(members & ((1u << self) - 1)));
      worlds.push_back(meet(meetingOf(job + "-" + std::to_string(members), rank, std::popcount(members))));
    }
    return worlds.size() == 7 ? kFine : kWrong;
  });
  for (uint32_t r = 0; r < kProcesses; ++r) CHECK(processes.join(r) == kFine);
}

TEST_CASE("a rank that doesn't come is named, to all who came, when the time is over") {
  const std::string job = newJob();
  Processes processes(3, [&](uint32_t rank) {
    const std::string text = refusalOf(meetingOf(job, rank == 2 ? 3 : rank, 4, 300));
    return contains(text, "Rank 2 of 4 did not come") ? kFine : kWrong;
  });
  for (uint32_t r = 0; r < 3; ++r) CHECK(processes.join(r) == kFine);
}

TEST_CASE("the facts of a timeout name the ranks that didn't come, to all who came") {
  const std::string job = newJob();
  Processes processes(
      2, [&](uint32_t rank) { return missingOf(meetingOf(job, 2 * rank, 4, 300)) == "1,3" ? kFine : kWrong; });
  for (uint32_t p = 0; p < 2; ++p) CHECK(processes.join(p) == kFine);
  CHECK(missingOf(meetingOf(newJob(), 1, 2, 50)) == "0");
}

TEST_CASE("without rank 0 the others give up in time and say so") {
  const std::string job = newJob();
  Processes processes(
      1, [&](uint32_t) { return contains(refusalOf(meetingOf(job, 1, 2, 200)), "Rank 0 of job") ? kFine : kWrong; });
  CHECK(processes.join(0) == kFine);
}

TEST_CASE("another version, and another configuration, are named on both sides") {
  for (const bool isVersion : {true, false}) {
    const std::string job = newJob();
    Processes processes(3, [&](uint32_t rank) {
      RendezvousOptions options = meetingOf(job, rank, 3);
      if (rank == 1 && isVersion) std::strcpy(options.shape.version, "0.9");
      if (rank == 1 && !isVersion) options.shape.collectives = 32;
      const std::string text = refusalOf(options);
      // Rank 2 may come after rank 0 has gone.
      if (rank == 2) return text.empty() ? kWrong : kFine;
      return contains(text, isVersion ? "The library is 0.9 on rank 1 and 1.0 on rank 0."
                                      : "maxCollectives is 32 on rank 1 and 64 on rank 0.")
                 ? kFine
                 : kWrong;
    });
    CHECK(processes.join(0) == kFine);
    CHECK(processes.join(1) == kFine);
  }
}

TEST_CASE("two processes that claim one rank are both refused") {
  const std::string job = newJob();
  Processes processes(3, [&](uint32_t process) {
    const std::string text = refusalOf(meetingOf(job, process == 0 ? 0 : 1, 3, 5000));
    return contains(text, "Two processes claim rank 1") ? kFine : kWrong;
  });
  for (uint32_t p = 0; p < 3; ++p) CHECK(processes.join(p) == kFine);
}

TEST_CASE("two processes that claim rank 0 are both refused, whatever their options") {
  for (const uint32_t collectives : {64u, 32u}) {
    const std::string job = newJob();
    Processes processes(2, [&](uint32_t process) {
      RendezvousOptions options = meetingOf(job, 0, 3);
      if (process == 1) options.shape.collectives = collectives;
      return contains(refusalOf(options), "Two processes claim rank 0") ? kFine : kWrong;
    });
    CHECK(processes.join(0) == kFine);
    CHECK(processes.join(1) == kFine);
  }
}

TEST_CASE("a rank that ends while the others are awaited can be started again") {
  const std::string job = newJob();
  Processes first(1, [&](uint32_t) {
    meet(meetingOf(job, 0, 3));
    return kFine;
  });
  {
    Processes early(1, [&](uint32_t) { return refusalOf(meetingOf(job, 1, 3)).empty() ? kFine : kWrong; });
    // Rank 0 listens, and rank 1 has come: a listening socket and one for each who is there.
    const Descriptor stranger = connectTo(job);
    REQUIRE(awaitSockets(job, 3));
    early.send(0, SIGKILL);
    CHECK(early.join(0) == -SIGKILL);
  }
  Processes rest(2, [&](uint32_t process) {
    meet(meetingOf(job, process + 1, 3));
    return kFine;
  });
  CHECK(first.join(0) == kFine);
  CHECK(rest.join(0) == kFine);
  CHECK(rest.join(1) == kFine);
}

TEST_CASE("malformed, truncated, replayed and silent connections neither join nor cost memory") {
  const std::string job = newJob();
  const int messages = isLongTier() ? 10'000 : 1'000;
  // Rank 0's largest size, in KiB, before and after the strangers.
  auto* peaks = static_cast<long*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  Processes host(1, [&](uint32_t) {
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    const std::shared_ptr<Segment> segment = meet(meetingOf(job, 0, 2, 200'000));
    getrusage(RUSAGE_SELF, &after);
    peaks[0] = after.ru_maxrss - before.ru_maxrss;
    return kFine;
  });
  const uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  rendezvous::Hello genuine{};
  std::memcpy(genuine.magic, rendezvous::kMagic, sizeof genuine.magic);
  genuine.rank = 1;
  genuine.shape = meetingOf(job, 1, 2).shape;
  std::vector<Descriptor> silent;
  for (int i = 0; i < messages; ++i) {
    Descriptor socket_ = connectTo(job);
    REQUIRE(socket_.get() >= 0);
    if (i % 100 == 0 && silent.size() < 8) {
      silent.push_back(std::move(socket_));
      continue;
    }
    uint8_t bytes[1024];
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    size_t size = random() % sizeof bytes;
    if (i % 3 == 1) std::memcpy(bytes, &genuine, std::min(size, sizeof genuine - 1));
    if (i % 3 == 1) size = std::min(size, sizeof genuine - 1);  // truncated
    if (i % 3 == 2) {
      std::memcpy(bytes, &genuine, sizeof genuine);  // of another protocol
      bytes[random() % 8] ^= static_cast<uint8_t>(1 + random() % 255);
      size = sizeof genuine;
    }
    (void)send(socket_.get(), bytes, size, MSG_NOSIGNAL);
    if (i % 5 == 0) (void)send(socket_.get(), bytes, size, MSG_NOSIGNAL);
  }
  Processes guest(1, [&](uint32_t) {
    meet(meetingOf(job, 1, 2));
    return kFine;
  });
  CHECK(guest.join(0) == kFine);
  CHECK(host.join(0) == kFine);
  MESSAGE(messages << " messages, rank 0 grew by " << peaks[0] << " KiB");
  CHECK(peaks[0] < 4096);
  munmap(peaks, 4096);
}

TEST_CASE("as many as are let in, and say nothing, make way for a rank") {
  const std::string job = newJob();
  Processes host(1, [&](uint32_t) {
    meet(meetingOf(job, 0, 2, 100'000));
    return kFine;
  });
  std::vector<Descriptor> silent;
  for (size_t i = 0; i < rendezvous::kStrangers + 2; ++i) {
    silent.push_back(connectTo(job));
    REQUIRE(silent.back().get() >= 0);
  }
  Processes guest(1, [&](uint32_t) {
    meet(meetingOf(job, 1, 2, 100'000));
    return kFine;
  });
  CHECK(guest.join(0) == kFine);
  CHECK(host.join(0) == kFine);
}

TEST_CASE("each option that ranks must share is named where it differs, and the rest isn't") {
  const SegmentShape own = meetingOf("any", 0, 2).shape;
  CHECK(rendezvous::difference(own, 0, own, 1).empty());
  const auto named = [&](auto SegmentShape::*field) {
    SegmentShape other = own;
    other.*field = 7;
    return rendezvous::difference(own, 0, other, 1);
  };
  CHECK(contains(named(&SegmentShape::ranks), "The number of ranks is 7 on rank 1 and 2 on rank 0."));
  CHECK(contains(named(&SegmentShape::grid), "blocks (of a daemon) is 7"));
  CHECK(contains(named(&SegmentShape::collectives), "maxCollectives is 7"));
  CHECK(contains(named(&SegmentShape::tasks), "maxTasks is 7"));
  CHECK(contains(named(&SegmentShape::slotPayloadBytes), "slotPayloadBytes is 7"));
  CHECK(contains(named(&SegmentShape::directTileBytes), "directTileBytes is 7"));
  CHECK(contains(named(&SegmentShape::arenaBytes), "arenaBytes is 7"));
}
