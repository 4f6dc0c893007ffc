#pragma once
// Programs within this one, which a case starts as processes of their own, or a person by their names:
// DFCCL_TEST_CHILD="NAME" dfccl_gpu_test. They are no cases, so that nobody counts them as cases that were left out.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "processes/support/child_end.hpp"

namespace dfccl::gpu::test {

class Child {
 public:
  Child(const char* name, void (*run)()) { all()[name] = run; }

  /// @return whether there is one of this name; it has run, then.
  static bool run(const char* name) {
    const auto found = all().find(name);
    if (found == all().end()) return false;
    found->second();
    return true;
  }

 private:
  static std::map<std::string, void (*)()>& all() {
    static std::map<std::string, void (*)()> children;
    return children;
  }
};

struct ChildEnd {
  bool hasEnded;  // within the limit; else it was killed
  int code;       // -1: it was killed, or a signal ended it
};

/// Starts this program again, and waits for its end.
inline ChildEnd runSelf(const std::vector<std::string>& arguments,
                        const std::vector<std::pair<const char*, const char*>>& environment,
                        std::chrono::seconds limit) {
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return {true, -1};
  self[length] = '\0';
  std::vector<char*> words{self};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    for (const auto& [name, value] : environment) setenv(name, value, 1);
    // Its summary isn't this program's.
    if (const int nowhere = open("/dev/null", O_WRONLY); nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    execv(self, words.data());
    _exit(127);
  }
  int status = 0;
  if (dfccl::test::awaitEnd(child, limit, status)) return {true, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return {false, -1};
}

}  // namespace dfccl::gpu::test
