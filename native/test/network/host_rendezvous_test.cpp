#include "network/host_rendezvous.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <chrono>
#include <cstring>
#include <random>

#include "base/error.hpp"
#include "network/frame_channel.hpp"
#include "network/message.hpp"
#include "network/support/host_rendezvous.hpp"
#include "network/support/rendezvous_points.hpp"
#include "processes/support/contains.hpp"
#include "processes/support/processes.hpp"
#include "processes/support/rendezvous_options.hpp"
#include "processes/support/tier.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

/// The ranks that a refusal names as missing among its facts.
std::string missingOf(const RendezvousOptions& options, const RendezvousPoint& point) {
  try {
    meetsAll(options, point);
  } catch (const Error& e) {
    for (const auto& [name, value] : e.facts()) {
      if (name == "missing") return value;
    }
  }
  return "";
}

/// What an honest guest would send, recorded for the other random number of some other meeting.
std::vector<uint8_t> recordedConversation(const std::string& job, const std::string& secret) {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  ByteStream stream{Descriptor(ends[0])};
  const Descriptor other(ends[1]);
  host_rendezvous::Opening opening{};
  std::memcpy(opening.magic, host_rendezvous::kMagic, sizeof opening.magic);
  opening.random = randomDigest();
  stream.put(bytesOfObject(opening));
  FrameChannel channel(stream, FrameChannel::Side::guest,
                       host_rendezvous::keyOf(secret, randomDigest(), opening.random));
  host_rendezvous::Hello hello{};
  hello.shape = meetingOf(job, 1, 2).shape;
  hello.rank = 1;
  job.copy(hello.job, sizeof hello.job - 1);
  channel.send(host_rendezvous::hello, bytesOfObject(hello));
  channel.send(host_rendezvous::contribution, MessageWriter().put(0u).putText("of a stranger").take());
  REQUIRE(stream.flush());
  std::vector<uint8_t> bytes(4096);
  const ssize_t got = recv(other.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(static_cast<size_t>(std::max<ssize_t>(0, got)));
  return bytes;
}

// In which those who do come have come, on a crowded machine too.
constexpr uint32_t kPatienceMs = 3000;

}  // namespace

TEST_CASE("everybody's contribution reaches everybody, round after round, with and without a secret on loopback") {
  for (const char* secret : {kSecret, ""}) {
    const std::string job = newJob();
    const OwnPort port;
    RendezvousPoint point = pointOn(port, 0);
    point.secret = secret;
    Processes processes(5, [&](uint32_t rank) { return meetsAll(meetingOf(job, rank, 5), point) ? kFine : kWrong; });
    for (uint32_t r = 0; r < 5; ++r) CHECK(processes.join(r) == kFine);
  }
}

TEST_CASE("a rank that doesn't come is named, to all who came, when the time is over") {
  const std::string job = newJob();
  const OwnPort port;
  const RendezvousPoint point = pointOn(port, 0);
  Processes processes(3, [&](uint32_t rank) {
    const std::string text = refusalOf(meetingOf(job, rank == 2 ? 3 : rank, 4, kPatienceMs), point);
    return contains(text, "Rank 2 of 4 did not come") ? kFine : kWrong;
  });
  for (uint32_t r = 0; r < 3; ++r) CHECK(processes.join(r) == kFine);
}

TEST_CASE("the facts of a timeout name the ranks that didn't come, to all who came") {
  const std::string job = newJob();
  const OwnPort port;
  const RendezvousPoint point = pointOn(port, 0);
  Processes processes(2, [&](uint32_t rank) {
    return missingOf(meetingOf(job, 2 * rank, 4, kPatienceMs), point) == "1,3" ? kFine : kWrong;
  });
  for (uint32_t p = 0; p < 2; ++p) CHECK(processes.join(p) == kFine);
  CHECK(missingOf(meetingOf(newJob(), 1, 2, 50), point) == "0");
}

TEST_CASE("without rank 0 the others give up in time and say where they looked") {
  const OwnPort port;
  const RendezvousPoint point = pointOn(port, 0);
  CHECK(contains(refusalOf(meetingOf(newJob(), 1, 2, 200), point), "at 127.0.0.1:"));
}

TEST_CASE("another version, configuration and job are named on both sides before anything else is told") {
  for (const int difference : {0, 1, 2}) {
    const std::string job = newJob();
    const OwnPort port;
    const RendezvousPoint point = pointOn(port, 0);
    Processes processes(2, [&](uint32_t rank) {
      RendezvousOptions options = meetingOf(job, rank, 2);
      if (rank == 1 && difference == 0) std::strcpy(options.shape.version, "0.9");
      if (rank == 1 && difference == 1) options.shape.slotPayloadBytes = 1024;
      if (rank == 1 && difference == 2) options.job = "another";
      const char* const told[] = {"The library is 0.9 on rank 1 and 1.0 on rank 0.",
                                  "slotPayloadBytes is 1024 on rank 1 and 32768 on rank 0.",
                                  "The job is \"another\" on rank 1"};
      return contains(refusalOf(options, point), told[difference]) ? kFine : kWrong;
    });
    CHECK(processes.join(0) == kFine);
    CHECK(processes.join(1) == kFine);
  }
}

TEST_CASE("two processes that claim one rank are both refused") {
  const std::string job = newJob();
  const OwnPort port;
  const RendezvousPoint point = pointOn(port, 0);
  Processes processes(3, [&](uint32_t process) {
    const std::string text = refusalOf(meetingOf(job, process == 0 ? 0 : 1, 3, 5000), point);
    return contains(text, "Two processes claim rank 1") ? kFine : kWrong;
  });
  for (uint32_t p = 0; p < 3; ++p) CHECK(processes.join(p) == kFine);
}

TEST_CASE("what goes wrong on one rank after the first round is told to all") {
  const std::string job = newJob();
  const OwnPort port;
  const RendezvousPoint point = pointOn(port, 0);
  Processes processes(3, [&](uint32_t rank) {
    try {
      const auto meeting = openHostRendezvous(meetingOf(job, rank, 3), point);
      (void)meeting->exchange({});
      if (rank == 1) {
        meeting->fail(dfcclUnavailable, "Rank 1: no wire.");
        return kFine;
      }
      (void)meeting->exchange({});
    } catch (const Error& e) {
      return contains(e.message(), "Rank 1: no wire.") && e.status() == dfcclUnavailable ? kFine : kWrong;
    }
    return kWrong;
  });
  for (uint32_t r = 0; r < 3; ++r) CHECK(processes.join(r) == kFine);
}

TEST_CASE("an address that strangers reach needs a secret, and another secret is told apart from a missing rank") {
  RendezvousPoint open{"192.0.2.1", 29'500, "", {}};
  CHECK(contains(refusalOf(meetingOf(newJob(), 1, 2, 100), open), "could be reached by strangers"));
  open.secret = "fifteen letters";
  CHECK(contains(refusalOf(meetingOf(newJob(), 1, 2, 100), open), "of 15 bytes could be guessed"));
  const std::string job = newJob();
  const OwnPort port;
  const RendezvousPoint point = pointOn(port, 0);
  Processes processes(2, [&](uint32_t rank) {
    RendezvousPoint own = point;
    if (rank == 1) own.secret = "another";
    const std::string text = refusalOf(meetingOf(job, rank, 2, 1000), own);
    return contains(text, rank == 1 ? "secrets differ" : "1 connections didn't prove to be of this job") ? kFine
                                                                                                         : kWrong;
  });
  CHECK(processes.join(0) == kFine);
  CHECK(processes.join(1) == kFine);
}

TEST_CASE("malformed, replayed, truncated, unproven and slow connections neither join nor cost memory") {
  const std::string job = newJob();
  const OwnPort port;
  const int messages = isLongTier() ? 10'000 : 1'000;
  // Rank 0's largest size, in KiB, before and after the strangers.
  auto* peaks = static_cast<long*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  Processes host(1, [&](uint32_t) {
    rusage before{}, after{};
    const auto meeting = openHostRendezvous(meetingOf(job, 0, 2, 300'000), pointOn(port, 0));
    getrusage(RUSAGE_SELF, &before);
    const auto all = meeting->exchange({});
    getrusage(RUSAGE_SELF, &after);
    peaks[0] = after.ru_maxrss - before.ru_maxrss;
    return all[1] == MessageWriter().putText("of the rank itself").take() ? kFine : kWrong;
  });
  const uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const std::vector<uint8_t> genuine = recordedConversation(job, kSecret);
  const std::vector<uint8_t> unproven = recordedConversation(job, "guessed");
  REQUIRE(genuine.size() > sizeof(host_rendezvous::Opening) + sizeof(FrameHeader));
  std::vector<Descriptor> slow;
  for (int i = 0; i < messages; ++i) {
    Descriptor stranger = reach(port);
    REQUIRE(stranger.get() >= 0);
    std::vector<uint8_t> bytes(random() % 4096);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    switch (i % 5) {
      case 1:  // replayed: proven once, to another random number
        bytes = genuine;
        break;
      case 2:  // proven with a guess
        bytes = unproven;
        break;
      case 3:  // truncated, and a bit of it changed
        bytes = genuine;
        bytes.resize(random() % genuine.size());
        if (!bytes.empty()) bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1 << random() % 8);
        break;
      case 4: {  // a frame that promises more than it may
        bytes = genuine;
        const uint32_t huge = 0xffff'ff00;
        std::memcpy(bytes.data() + sizeof(host_rendezvous::Opening) + offsetof(FrameHeader, bytes), &huge, sizeof huge);
        break;
      }
      default:
        break;
    }
    (void)send(stranger.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    // Some say nothing more, and stay for as long as they are let.
    if (i % 7 == 0 && slow.size() < 400) slow.push_back(std::move(stranger));
  }
  Processes guest(1, [&](uint32_t) {
    const auto meeting = openHostRendezvous(meetingOf(job, 1, 2), pointOn(port, 0));
    (void)meeting->exchange(MessageWriter().putText("of the rank itself").take());
    return kFine;
  });
  CHECK(guest.join(0) == kFine);
  CHECK(host.join(0) == kFine);
  MESSAGE(messages << " connections, rank 0 grew by " << peaks[0] << " KiB");
#if !defined(DFCCL_SANITIZED)  // AddressSanitizer keeps what was freed
  CHECK(peaks[0] < 8192);
#endif
  munmap(peaks, 4096);
}

TEST_CASE("a proof holds for its conversation and its place in it alone; control: there it does") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  ByteStream host{Descriptor(ends[0])}, guest{Descriptor(ends[1])};
  const Digest hostRandom = randomDigest(), guestRandom = randomDigest();
  FrameChannel sender(guest, FrameChannel::Side::guest, host_rendezvous::keyOf(kSecret, hostRandom, guestRandom));
  sender.send(host_rendezvous::hello, bytesOf(std::string("hello")));
  REQUIRE(guest.flush());
  REQUIRE(host.fill(4096));
  Frame frame;
  FrameChannel same(host, FrameChannel::Side::host, host_rendezvous::keyOf(kSecret, hostRandom, guestRandom));
  FrameChannel other(host, FrameChannel::Side::host, host_rendezvous::keyOf(kSecret, randomDigest(), guestRandom));
  CHECK(other.read(frame, 4096) == FrameChannel::Reading::broken);
  CHECK(same.read(frame, 4096) == FrameChannel::Reading::frame);
  // A second time it is the wrong number in the conversation.
  sender.send(host_rendezvous::hello, bytesOf(std::string("hello")));
  REQUIRE(guest.flush());
  REQUIRE(host.fill(4096));
  FrameChannel fresh(host, FrameChannel::Side::host, host_rendezvous::keyOf(kSecret, hostRandom, guestRandom));
  CHECK(fresh.read(frame, 4096) == FrameChannel::Reading::broken);
  CHECK(same.read(frame, 4096) == FrameChannel::Reading::frame);
}

TEST_CASE("a proof holds for its direction, kind and contents alone; control: as it was sent it does") {
  const Digest key = host_rendezvous::keyOf(kSecret, randomDigest(), randomDigest());
  using Side = FrameChannel::Side;
  const auto wire = [] {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
    return std::pair{ByteStream(Descriptor(ends[0])), ByteStream(Descriptor(ends[1]))};
  };
  auto [guest, host] = wire();
  FrameChannel(guest, Side::guest, key).send(host_rendezvous::contribution, bytesOf(std::string("mine")));
  REQUIRE(guest.flush());
  REQUIRE(host.fill(4096));
  const std::vector<uint8_t> sent(host.waiting().begin(), host.waiting().end());
  const auto readAs = [&](Side reader, const std::vector<uint8_t>& bytes) {
    auto [from, to] = wire();
    from.put(bytes);
    REQUIRE(from.flush());
    REQUIRE(to.fill(4096));
    Frame frame;
    return FrameChannel(to, reader, key).read(frame, 4096);
  };
  CHECK(readAs(Side::host, sent) == FrameChannel::Reading::frame);
  CHECK(readAs(Side::guest, sent) == FrameChannel::Reading::broken);
  for (size_t at = 0; at < sent.size(); ++at) {
    if (at >= offsetof(FrameHeader, bytes) && at < offsetof(FrameHeader, proof)) continue;  // then more has to come
    CAPTURE(at);
    std::vector<uint8_t> changed = sent;
    changed[at] ^= 1;
    CHECK(readAs(Side::host, changed) == FrameChannel::Reading::broken);
  }
}
