#include "nccl_api/machines/visitor.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace dfccl::nccl {
namespace {

// Of whoever connects: to say what for, and to take the answer.
constexpr std::chrono::seconds kLongestExchange{10};

}  // namespace

Visitor::Visitor(Descriptor connection, uint32_t seconds)
    : connection_(std::move(connection)), seconds_(seconds), until_(Clock::now() + kLongestExchange) {}

short Visitor::events() const { return said_ < answer_.size() ? POLLOUT : POLLIN; }

bool Visitor::step(const std::function<bool(const Name&)>& isKnown) {
  if (answer_.empty() && !meeting_) {
    if (!hear()) return false;
    if (answer_.empty() && heard_ == sizeof request_) come(isKnown);
  }
  if (answer_.empty() && meeting_) {
    if (!attend()) return false;
    if (answer_.empty()) return true;
  }
  if (answer_.empty()) return Clock::now() < until_;
  return said_ < answer_.size() ? say() : part();
}

void Visitor::giveUp() const {
  if (meeting_) meeting_->giveUp();
}

/// @return whether it is there still.
bool Visitor::attend() {
  try {
    if (Clock::now() > until_) meeting_->end();
    if (meeting_->isComplete()) {
      const std::vector<Arrival> all = meeting_->all();
      answer(ncclSuccess, all.data(), all.size() * sizeof(Arrival));
      return true;
    }
  } catch (const Failure& failure) {
    refuse(failure);
    return true;
  }
  if (isThereStill()) return true;
  // Its seat stays taken, as that of a rank of this machine does.
  meeting_->giveUp();
  return false;
}

/// It says nothing more while it waits.
bool Visitor::isThereStill() const {
  uint8_t more = 0;
  const ssize_t came = recv(connection_.get(), &more, 1, MSG_DONTWAIT);
  return came < 0 && (errno == EAGAIN || errno == EINTR);
}

bool Visitor::hear() {
  auto* const at = reinterpret_cast<uint8_t*>(&request_);
  while (heard_ < sizeof request_) {
    const ssize_t came = recv(connection_.get(), at + heard_, sizeof request_ - heard_, MSG_DONTWAIT);
    if (came < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (came <= 0) return false;
    heard_ += static_cast<size_t>(came);
    // Whoever else connects is told nothing.
    if (heard_ >= sizeof request_.magic && request_.magic != Request::kMagic) return false;
    if (heard_ >= 2 * sizeof(uint64_t) && request_.arrivalBytes != sizeof(Arrival)) {
      refuse({ncclInvalidUsage, "A rank has another version of this library.",
              "Let all ranks have the same version of it."});
      return true;
    }
  }
  return true;
}

void Visitor::come(const std::function<bool(const Name&)>& isKnown) {
  if (!isKnown(request_.name)) {
    return answer(Answer::kNotMadeHere, "", 0);
  }
  if (request_.arrival.worldCount > Arrival::kMostWorlds || request_.ranks < 1 || request_.ranks > 1024 ||
      request_.rank < 0 || request_.rank >= request_.ranks) {
    return refuse(
        {ncclInvalidArgument, "There is no such rank.", "Let all ranks have the same version of this library."});
  }
  until_ = Clock::now() + std::chrono::seconds(seconds_);
  try {
    meeting_.emplace(meetingOf(request_.name, request_.step), request_.ranks, request_.rank, seconds_,
                     request_.arrival);
  } catch (const Failure& failure) {
    refuse(failure);
  }
}

void Visitor::answer(int32_t result, const void* what, size_t bytes) {
  const Answer head{result, static_cast<uint32_t>(bytes)};
  answer_.resize(sizeof head + bytes);
  std::memcpy(answer_.data(), &head, sizeof head);
  std::memcpy(answer_.data() + sizeof head, what, bytes);
  until_ = Clock::now() + kLongestExchange;
}

void Visitor::refuse(const Failure& failure) {
  const std::string sentence = failure.what();
  answer(failure.result(), sentence.data(), sentence.size());
}

/// @return whether somebody hears it.
bool Visitor::say() {
  while (said_ < answer_.size()) {
    const ssize_t sent =
        send(connection_.get(), answer_.data() + said_, answer_.size() - said_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return Clock::now() < until_;
    if (sent <= 0) return false;
    said_ += static_cast<size_t>(sent);
  }
  shutdown(connection_.get(), SHUT_WR);
  return true;
}

/// What it has said beside its request is read off: else the system tells it, in the answer's place, that nobody did.
/// @return whether it has yet to take the answer.
bool Visitor::part() {
  // Not all of it at once: whoever never ends saying something is not to keep the others waiting.
  uint8_t some[4096];
  const ssize_t came = recv(connection_.get(), some, sizeof some, MSG_DONTWAIT);
  const bool isThere = came > 0 || (came < 0 && (errno == EAGAIN || errno == EINTR));
  return isThere && Clock::now() < until_;
}

}  // namespace dfccl::nccl
