#pragma once
// Tests with one rank a process: children that the test forks, each with a task of its own.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "processes/support/child_end.hpp"

namespace dfccl::test {

/// A job's name that no other test has.
inline std::string newJob() {
  static int count = 0;
  return "test-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

/// What a child says with its exit status.
inline constexpr int kFine = 0;
inline constexpr int kWrong = 1;
inline constexpr int kThrew = 2;
inline constexpr int kNeverEnded = 254;

class Processes {
 public:
  using Task = std::function<int(uint32_t rank)>;

  Processes(uint32_t count, const Task& task) {
    std::fflush(nullptr);
    for (uint32_t rank = 0; rank < count; ++rank) {
      const pid_t child = fork();
      if (child == 0) _exit(run(task, rank));
      children_.push_back(child);
    }
  }
  ~Processes() {
    for (const pid_t child : children_) {
      if (child <= 0) continue;
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  pid_t operator[](uint32_t rank) const { return children_[rank]; }
  void send(uint32_t rank, int signal) { kill(children_[rank], signal); }

  /// Waits for a child's end. @return its exit status, minus the signal that ended it, or kNeverEnded.
  int join(uint32_t rank, std::chrono::seconds limit = std::chrono::seconds(120)) {
    int status = 0;
    if (!awaitEnd(children_[rank], limit, status)) return kNeverEnded;
    children_[rank] = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  static int run(const Task& task, uint32_t rank) {
    try {
      return task(rank);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "rank %u: %s\n", rank, e.what());
      return kThrew;
    }
  }
  std::vector<pid_t> children_;
};

}  // namespace dfccl::test
