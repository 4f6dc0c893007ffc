#include "processes/rendezvous.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "error.hpp"
#include "processes/descriptor.hpp"

namespace dfccl {
namespace {

using namespace rendezvous;
using namespace meetings;

Descriptor openSocket() {
  Descriptor socket_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket_.get() < 0) refuseSystem("A Unix socket can't be made");
  return socket_;
}

/// An abstract address: no file, so nothing is left behind.
socklen_t addressOf(const std::string& job, sockaddr_un& address) {
  const std::string name = socketName(job);
  address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

bool isOwnUser(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

Answer answerOf(Answer::Kind kind, dfcclResult_t status = dfcclSuccess, const std::string& text = {},
                const std::vector<uint32_t>& ranks = {}) {
  Answer answer{};
  std::memcpy(answer.magic, kMagic, sizeof kMagic);
  answer.kind = kind;
  answer.status = status;
  std::memcpy(answer.text, text.data(), std::min(text.size(), sizeof answer.text - 1));
  answer.ranks = RankSet::of(ranks);
  return answer;
}

/// Sends one message, with a descriptor if it is not negative. Losing it is no error: the other end is gone then.
void sendAnswer(int connection, const Answer& answer, int descriptor = -1) {
  iovec part{const_cast<Answer*>(&answer), sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  (void)sendmsg(connection, &message, MSG_NOSIGNAL);
}

void sendHello(int connection, const MeetingOptions& options) {
  Hello hello{};
  std::memcpy(hello.magic, kMagic, sizeof kMagic);
  hello.rank = options.rank;
  hello.pid = static_cast<uint32_t>(getpid());
  hello.shape = options.shape;
  (void)send(connection, &hello, sizeof hello, MSG_NOSIGNAL);
}

/// @return bytes of the message, 0 at the end, -1 if there is none now.
ssize_t receiveAnswer(int connection, Answer& answer, Descriptor& descriptor) {
  iovec part{&answer, sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t received = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
  if (received < 0) return -1;
  for (cmsghdr* h = CMSG_FIRSTHDR(&message); h != nullptr; h = CMSG_NXTHDR(&message, h)) {
    if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
    int number;
    std::memcpy(&number, CMSG_DATA(h), sizeof number);
    descriptor = Descriptor(number);
  }
  return received;
}

bool isAnswer(ssize_t received, const Answer& answer) {
  return received == sizeof answer && std::memcmp(answer.magic, kMagic, sizeof kMagic) == 0;
}

/// @throws Error as the first rank says, where it refuses.
void checkRefused(Answer& answer) {
  if (answer.kind != Answer::refused) return;
  answer.text[sizeof answer.text - 1] = '\0';
  throwRefused(static_cast<dfcclResult_t>(answer.status), answer.text, answer.ranks.list());
}

/// Asks who has the address that the first rank wants to listen at. Another first rank of the job refuses both at once;
/// one whose meeting is over, or that ends, says nothing, and the address will be free.
class Rival {
 public:
  explicit Rival(const MeetingOptions& options) : options_(options) {}

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
  const MeetingOptions& options_;
  Descriptor connection_;
};

/// The side of the first rank, which makes the memory.
class Host {
 public:
  explicit Host(const MeetingOptions& options)
      : options_(options), members_(options.everybody()), deadline_(deadlineOf(options)), state_(options.shape.ranks) {
    state_[options.rank] = State::ready;
  }

  std::shared_ptr<Segment> run() {
    listen();
    segment_ = Segment::create(options_.shape, options_.rank, members_);
    segment_->setJob(options_.job);
    segment_->join();
    while (!absent().empty()) serve();
    for (const Connection& c : connections_) {
      if (c.rank != kUnknown) sendAnswer(c.socket.get(), answerOf(Answer::go));
    }
    return segment_;
  }

 private:
  enum class State : uint8_t { absent, invited, ready };
  static constexpr uint32_t kUnknown = 0xffffffff;
  struct Connection {
    Descriptor socket;
    Clock::time_point since;
    uint32_t rank = kUnknown;
    uint32_t process = 0;
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
    if (millisUntil(deadline_) == 0 && !absent().empty())
      refuseAll(dfcclTimeout, missing(options_, absent()), absent());
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
      if (hello.rank == c.rank) state_[c.rank] = State::ready;
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
    state_[c.rank] = State::invited;
    sendAnswer(c.socket.get(), answerOf(Answer::segment), segment_->descriptor());
  }

  uint32_t processOf(uint32_t rank) const {
    for (const Connection& c : connections_) {
      if (c.rank == rank) return c.process;
    }
    return static_cast<uint32_t>(getpid());
  }

  std::vector<uint32_t> absent() const {
    std::vector<uint32_t> ranks;
    for (const uint32_t r : members_) {
      if (state_[r] != State::ready) ranks.push_back(r);
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

  const MeetingOptions& options_;
  const std::vector<uint32_t> members_;
  const Clock::time_point deadline_;
  std::vector<State> state_;  // [rank]
  std::vector<Connection> connections_;
  std::shared_ptr<Segment> segment_;
  Descriptor listener_;
};

/// Any other rank's side.
class Guest {
 public:
  explicit Guest(const MeetingOptions& options)
      : options_(options),
        deadline_(deadlineOf(options)),
        leader_("Rank " + std::to_string(options.everybody().front()) + " of job \"" + options.job + "\"") {}

  std::shared_ptr<Segment> run() {
    connect();
    sendHello(socket_.get(), options_);
    Descriptor descriptor = await(Answer::segment);
    if (descriptor.get() < 0) refuseSystem(leader_ + " sent no memory");
    std::shared_ptr<Segment> segment = Segment::attach(descriptor.release(), options_.shape, options_.rank);
    segment->join();
    sendHello(socket_.get(), options_);
    await(Answer::go);
    return segment;
  }

 private:
  void connect() {
    sockaddr_un address;
    const socklen_t length = addressOf(options_.job + options_.place, address);
    for (;;) {
      socket_ = openSocket();
      if (::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), length) == 0) break;
      if (errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR) refuseSystem(leader_ + " can't be reached");
      if (millisUntil(deadline_) == 0) {
        throwRefused(dfcclTimeout, leader_ + " did not come within " + secondsOf(options_) + ".",
                     {options_.everybody().front()});
      }
      checkCancelled(options_);
      poll(nullptr, 0, kRetryMillis);
    }
    if (isOwnUser(socket_.get())) return;
    throw Error(dfcclInUse, leader_ + " is another user's process.", "Give the job a name of its own (DFCCL_JOB).",
                {{"job", options_.job}});
  }

  Descriptor await(Answer::Kind wanted) {
    for (;;) {
      checkCancelled(options_);
      // The first rank says why, shortly after its own limit.
      const int left = millisUntil(deadline_ + kHelloTime);
      pollfd polled{socket_.get(), POLLIN, 0};
      if (poll(&polled, 1, std::min(left, kLookMillis)) == 0 && left == 0) {
        throwRefused(dfcclTimeout, leader_ + " gave no answer.");
      }
      Answer answer{};
      Descriptor descriptor;
      const ssize_t received = receiveAnswer(socket_.get(), answer, descriptor);
      if (received < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (!isAnswer(received, answer)) {
        throw Error(dfcclSystemError, leader_ + " ended before all ranks had come.", "See what its process says.",
                    {{"job", options_.job}});
      }
      checkRefused(answer);
      if (answer.kind == wanted) return descriptor;
    }
  }

  const MeetingOptions& options_;
  const Clock::time_point deadline_;
  const std::string leader_;
  Descriptor socket_;
};

}  // namespace

std::string rendezvous::socketName(const std::string& job) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a: names that differ only beyond the address's end stay apart
  for (const char c : job) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  char tail[20];
  std::snprintf(tail, sizeof tail, "%016llx", static_cast<unsigned long long>(hash));
  return "dfccl-" + std::to_string(geteuid()) + "-" + job.substr(0, 60) + "-" + tail;
}

std::shared_ptr<Segment> meet(const MeetingOptions& options) {
  return options.rank == options.everybody().front() ? Host(options).run() : Guest(options).run();
}

}  // namespace dfccl
