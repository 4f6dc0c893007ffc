#pragma once
#include <chrono>
#include <list>
#include <mutex>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "submission.hpp"

namespace dfccl_torch {

/// A group's sends of copies, which are over for their callers before they have been received. Any thread.
class BufferedSends {
 public:
  using Options = c10::intrusive_ptr<c10d::Backend::Options>;

  /// @param options whose timeout is the group's.
  static std::shared_ptr<BufferedSends> make(Options options);

  /// @param peer who is to receive it: a place in the group.
  void keep(Submission send, int peer);
  /// Waits until all have been received, or can't be any more, as their receiver is gone. Keeps none of them.
  /// @return what is late, in words; empty: nothing.
  std::vector<std::string> wait(std::chrono::milliseconds limit);

 private:
  struct Sent {
    Submission send;
    int peer;
  };

  explicit BufferedSends(Options options) : options_(std::move(options)) {}
  friend std::vector<std::string> endBufferedSends(std::chrono::milliseconds limit);

  const Options options_;
  std::mutex mutex_;
  std::list<Sent> sent_;
  size_t lookAt_ = 8;  // how many there are when those are let go that are over
};

/// Before the process ends: waits so long at most, and no longer than their groups' timeouts, for what is on its way in
/// groups that nobody has destroyed. Without Python's lock.
/// @return as BufferedSends::wait.
std::vector<std::string> endBufferedSends(std::chrono::milliseconds limit);

}  // namespace dfccl_torch
