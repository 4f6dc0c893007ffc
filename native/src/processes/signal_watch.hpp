#pragma once
// Does something on SIGUSR2 that a signal's handler may not do itself, whatever the program's own threads are at.
#include <functional>

namespace dfccl {

/// For as long as it lives, `act` is called on a thread of the library's own whenever this process gets SIGUSR2; once
/// for signals that come while it is under way. A handler that the program had before is called too; one that the
/// program installs later takes the place of this.
class SignalWatch {
 public:
  /// @throws std::system_error where the system refuses the thread.
  explicit SignalWatch(std::function<void()> act);
  /// Waits for a call under way. The last one gives the signal back to whoever had it.
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  void act() const { act_(); }

 private:
  const std::function<void()> act_;
};

}  // namespace dfccl
