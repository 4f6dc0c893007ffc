#pragma once
// Which callback of the user's this thread is in.
#include <cstdint>
#include <utility>

namespace dfccl {

/// For as long as one is called. They are numbered, so that one that another is called within has a larger number, and
/// one that has returned a number that no later one has.
class UserCallback {
 public:
  UserCallback() : outer_(std::exchange(current_, ++last_)) {}
  ~UserCallback() { current_ = outer_; }
  UserCallback(const UserCallback&) = delete;
  UserCallback& operator=(const UserCallback&) = delete;

  /// The innermost one's; 0: this thread is in none.
  static uint64_t current() { return current_; }

 private:
  static constinit inline thread_local uint64_t current_ = 0, last_ = 0;

  const uint64_t outer_;
};

}  // namespace dfccl
