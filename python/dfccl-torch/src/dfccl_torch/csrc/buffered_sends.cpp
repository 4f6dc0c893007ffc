#include "buffered_sends.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "deadlines.hpp"
#include "per_process.hpp"

namespace dfccl_torch {
namespace {

struct Senders {
  std::mutex mutex;
  std::vector<std::weak_ptr<BufferedSends>> all;
};
PerProcess<Senders> senders;

}  // namespace

std::shared_ptr<BufferedSends> BufferedSends::make(Options options) {
  std::shared_ptr<BufferedSends> made(new BufferedSends(std::move(options)));
  Senders& here = senders.get();
  const std::lock_guard lock(here.mutex);
  std::erase_if(here.all, [](const auto& one) { return one.expired(); });
  here.all.push_back(made);
  return made;
}

void BufferedSends::keep(Submission send, int peer) {
  const std::lock_guard lock(mutex_);
  if (sent_.size() >= lookAt_) {
    // All of them: one that nobody receives for long has others behind it, each with a copy of its tensor.
    sent_.remove_if([](Sent& one) {
      std::string error;
      return one.send.poll(error) != Submission::End::pending;
    });
    lookAt_ = std::max<size_t>(8, 2 * sent_.size());
  }
  sent_.push_back({std::move(send), peer});
}

std::vector<std::string> BufferedSends::wait(std::chrono::milliseconds limit) {
  std::list<Sent> sent;
  {
    const std::lock_guard lock(mutex_);
    sent.swap(sent_);
  }
  const std::optional<Clock::time_point> end = endOf(limit);
  std::vector<std::string> late;
  for (auto& [send, peer] : sent) {
    std::string error;
    if (send.wait(end, error) != Submission::End::pending) continue;
    late.push_back("What was sent to rank " + std::to_string(peer) + " of group " + send.group().name() +
                   " has not been received in " + std::to_string(limit.count()) + " ms: " + error);
  }
  return late;
}

std::vector<std::string> endBufferedSends(std::chrono::milliseconds limit) {
  std::vector<std::shared_ptr<BufferedSends>> alive;
  {
    Senders& here = senders.get();
    const std::lock_guard lock(here.mutex);
    for (const auto& one : here.all) {
      if (auto sends = one.lock()) alive.push_back(std::move(sends));
    }
  }
  const Clock::time_point end = timeIn(limit);
  std::vector<std::string> late;
  for (const auto& sends : alive) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    const auto ofGroup = sends->options_->timeout;
    const auto most = ofGroup.count() > 0 ? std::min<std::chrono::milliseconds>(left, ofGroup) : left;
    for (std::string& words : sends->wait(std::max(most, std::chrono::milliseconds(1))))
      late.push_back(std::move(words));
  }
  return late;
}

}  // namespace dfccl_torch
