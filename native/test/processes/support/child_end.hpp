#pragma once
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

namespace dfccl::test {

/// Sleeps until a child has ended, at most `limit`. @return whether it has; then `status` is as waitpid says.
inline bool awaitEnd(pid_t child, std::chrono::milliseconds limit, int& status) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  pollfd end{descriptor, POLLIN, 0};
  int ready = 0;
  do {
    const auto left = deadline - std::chrono::steady_clock::now();
    const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
    ready = descriptor < 0 ? -1 : poll(&end, 1, millis > 0 ? static_cast<int>(millis) : 0);
  } while (ready < 0 && descriptor >= 0 && errno == EINTR);
  if (descriptor >= 0) close(descriptor);
  return waitpid(child, &status, descriptor < 0 ? 0 : WNOHANG) == child;
}

}  // namespace dfccl::test
