#include "processes/rendezvous.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "base/error.hpp"
#include "processes/rendezvous_messages.hpp"

namespace dfccl {
namespace {

using namespace rendezvous;

/// Any other rank's side.
class Guest {
 public:
  explicit Guest(const RendezvousOptions& options)
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

  const RendezvousOptions& options_;
  const Clock::time_point deadline_;
  const std::string leader_;
  Descriptor socket_;
};
}  // namespace

std::shared_ptr<Segment> meet(const RendezvousOptions& options) {
  return options.rank == options.everybody().front() ? host(options) : Guest(options).run();
}

}  // namespace dfccl
