// The side of the first rank.
#include <poll.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "processes/rendezvous_messages.hpp"
#include "processes/segment_places.hpp"

namespace dfccl::rendezvous {
namespace {

using namespace rendezvous;

/// Asks who has the address that the first rank wants to listen at. Another first rank of the job refuses both at once;
/// one whose meeting is over, or that ends, says nothing, and the address will be free.
class Rival {
 public:
  explicit Rival(const RendezvousOptions& options) : options_(options) {}

  void ask(const sockaddr_un& address, socklen_t length) {
    if (connection_.get() < 0) {
      Descriptor connection = openSocket();
      if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) return;
      if (!isOwnUser(connection.get())) return;
      connection_ = std::move(connection);
      sendHello(connection_.get(), options_);
    }
    hear();
  }

  /// @throws Error as the other first rank says.
  void hear() {
    if (connection_.get() < 0) return;
    Answer answer{};
    Descriptor none;
    const ssize_t received = receiveAnswer(connection_.get(), answer, none);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (isAnswer(received, answer)) checkRefused(answer);
    connection_ = Descriptor();
  }

 private:
  const RendezvousOptions& options_;
  Descriptor connection_;
};
class Host {
 public:
  explicit Host(const RendezvousOptions& options)
      : options_(options), members_(options.everybody()), deadline_(deadlineOf(options)), state_(options.shape.ranks) {
    state_[options.rank] = State::ready;
  }

  std::shared_ptr<Segment> run() {
    listen();
    while (!those(State::absent).empty()) serve();
    makeSegment();
    while (those(State::ready).size() != members_.size()) serve();
    for (const Connection& c : connections_) {
      if (c.rank != kUnknown) sendAnswer(c.socket.get(), answerOf(Answer::go));
    }
    return segment_;
  }

 private:
  enum class State : uint8_t { absent, come, invited, ready };
  static constexpr uint32_t kUnknown = 0xffffffff;
  struct Connection {
    Descriptor socket;
    Clock::time_point since;
    uint32_t rank = kUnknown;
    uint32_t process = 0;
    uint64_t freePlaces = 0;
    bool isOver = false;
  };

  void listen() {
    listener_ = openSocket();
    sockaddr_un address;
    const socklen_t length = addressOf(options_.job + options_.place, address);
    Rival rival(options_);
    while (bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) {
      if (errno != EADDRINUSE) refuseSystem("The rendezvous' socket can't be bound");
      // Of a job that has just ended, it is free in a moment.
      if (millisUntil(deadline_) == 0) {
        throw Error(dfcclInUse, "Another process is rank 0 of job \"" + options_.job + "\".",
                    "Give each job a name of its own (DFCCL_JOB), and each rank one process.", {{"job", options_.job}});
      }
      checkCancelled(options_);
      rival.ask(address, length);
      poll(nullptr, 0, kRetryMillis);
    }
    rival.hear();  // it may have refused both and gone: it answers before the address is free
    if (::listen(listener_.get(), 128) != 0) refuseSystem("The rendezvous' socket can't listen");
  }

  void serve() {
    checkCancelled(options_);
    const bool mayAccept = connections_.size() < members_.size() + kStrangers;
    std::vector<pollfd> polled{{listener_.get(), static_cast<short>(mayAccept ? POLLIN : 0), 0}};
    for (const Connection& c : connections_) polled.push_back({c.socket.get(), POLLIN, 0});
    poll(polled.data(), polled.size(), std::min(millisUntil(deadline_), kLookMillis));
    for (size_t i = 0; i < connections_.size(); ++i) {
      if (polled[i + 1].revents != 0) hear(connections_[i]);
      if (connections_[i].rank == kUnknown && Clock::now() - connections_[i].since > kHelloTime)
        connections_[i].isOver = true;
    }
    std::erase_if(connections_, [](const Connection& c) { return c.isOver; });
    if (polled[0].revents != 0) accept();
    if (millisUntil(deadline_) != 0) return;
    std::vector<uint32_t> late = those(State::absent);
    if (late.empty()) late = those(State::invited);
    if (!late.empty()) refuseAll(dfcclTimeout, missing(options_, late), late);
  }

  void accept() {
    Descriptor connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection.get() < 0 || !isOwnUser(connection.get())) return;
    connections_.push_back({std::move(connection), Clock::now()});
  }

  void hear(Connection& c) {
    Hello hello;
    const ssize_t received = recv(c.socket.get(), &hello, sizeof hello, MSG_TRUNC);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (received != sizeof hello || std::memcmp(hello.magic, kMagic, sizeof kMagic) != 0) {
      // It is gone, or no rank. A rank that ends before all are here may be started again.
      if (c.rank != kUnknown) state_[c.rank] = State::absent;
      c.isOver = true;
      return;
    }
    if (c.rank != kUnknown) {
      if (hello.rank == c.rank && state_[c.rank] == State::invited) state_[c.rank] = State::ready;
      return;
    }
    const bool isExpected = std::binary_search(members_.begin(), members_.end(), hello.rank);
    // Before their options are compared: those of two jobs of one name may differ too, and that is not what is wrong.
    if (isExpected && state_[hello.rank] != State::absent) {
      const std::string text = "Two processes claim rank " + std::to_string(hello.rank) + " of job \"" + options_.job +
                               "\": " + std::to_string(processOf(hello.rank)) + " and " + std::to_string(hello.pid) +
                               ".";
      refuseAll(dfcclInUse, text, {hello.rank}, &c);
    }
    if (const std::string text = difference(options_.shape, options_.rank, hello.shape, hello.rank); !text.empty()) {
      refuseAll(dfcclRegistrationMismatch, text, {}, &c);
    }
    if (!isExpected) {
      const std::string text = "Rank " + std::to_string(hello.rank) + " of job \"" + options_.job +
                               "\" is not awaited on this machine: process " + std::to_string(hello.pid) +
                               " claims it.";
      refuseAll(dfcclInUse, text, {hello.rank}, &c);
    }
    c.rank = hello.rank;
    c.process = hello.pid;
    c.freePlaces = hello.freePlaces;
    state_[c.rank] = State::come;
    if (segment_) invite(c);  // in place of one that ended meanwhile
  }

  void invite(const Connection& c) {
    state_[c.rank] = State::invited;
    sendAnswer(c.socket.get(), answerOf(Answer::segment), segment_->descriptor());
  }

  /// Where nobody has anything. @pre all have come
  void makeSegment() {
    const SegmentPlaces places(options_.job, Segment::bytesOf(options_.shape));
    uint64_t free = places.freeHere();
    for (const Connection& c : connections_) {
      if (c.rank != kUnknown) free &= c.freePlaces;
    }
    if (free == 0) {
      const std::string why = places.whyNone();
      refuseAll(dfcclSystemError,
                "No address is free for the world's memory in all of its processes" +
                    (why.empty() ? std::string(".") : "; in rank 0's: " + why + "."),
                {});
    }
    const auto place = static_cast<uint32_t>(std::countr_zero(free));
    segment_ = Segment::create(options_.shape, options_.rank, places.addressOf(place), members_);
    segment_->setJob(options_.job);
    segment_->join();
    for (const Connection& c : connections_) {
      if (c.rank != kUnknown) invite(c);
    }
  }

  uint32_t processOf(uint32_t rank) const {
    for (const Connection& c : connections_) {
      if (c.rank == rank) return c.process;
    }
    return static_cast<uint32_t>(getpid());
  }

  std::vector<uint32_t> those(State state) const {
    std::vector<uint32_t> ranks;
    for (const uint32_t r : members_) {
      if (state_[r] == state) ranks.push_back(r);
    }
    return ranks;
  }

  [[noreturn]] void refuseAll(dfcclResult_t status, const std::string& text, const std::vector<uint32_t>& ranks,
                              const Connection* also = nullptr) {
    const Answer answer = answerOf(Answer::refused, status, text, ranks);
    for (const Connection& c : connections_) {
      if (c.rank != kUnknown || &c == also) sendAnswer(c.socket.get(), answer);
    }
    throwRefused(status, text, ranks);
  }

  const RendezvousOptions& options_;
  const std::vector<uint32_t> members_;
  const Clock::time_point deadline_;
  std::vector<State> state_;  // [rank]
  std::vector<Connection> connections_;
  std::shared_ptr<Segment> segment_;
  Descriptor listener_;
};
}  // namespace

std::shared_ptr<Segment> host(const RendezvousOptions& options) { return Host(options).run(); }

}  // namespace dfccl::rendezvous
