#pragma once
// Processes whose environment names the fake NCCL, and what that and they say.
#include <dlfcn.h>
#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "nccl_api/test/processes.hpp"
#include "simulated/fake_nccl.hpp"

namespace dfccl::nccl::test {

inline std::string fakePath() {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  return self.parent_path() / "fake_nccl" / "libnccl.so.2";
}

/// A function of the fake one's, with its arguments. @return -1: it isn't loaded.
template <class Function, class... Arguments>
int askFake(const char* function, Arguments... arguments) {
  void* const library = dlopen(fakePath().c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return -1;
  return reinterpret_cast<Function*>(dlsym(library, function))(arguments...);
}
inline int fakeCount(FakeCall call) { return askFake<FakeCallCount>("fakeCallCount", call); }

inline void name(const std::string& library, const char* what = "") {
  setenv("DFCCL_REAL_NCCL", library.c_str(), 1);
  setenv("DFCCL_REAL_NCCL_FOR", what, 1);
}

/// One process, whose result is to be kFine.
inline void inProcess(const std::function<int()>& run) {
  Processes processes(1, [&](uint32_t) {
    cudaSetDevice(0);
    return run();
  });
  CHECK(processes.join(0) == kFine);
}

inline bool saysLast(const char* what) {
  return std::string(ncclGetLastError(nullptr)).find(what) != std::string::npos;
}

/// What the process prints meanwhile as its errors.
inline std::string printedBy(const std::function<void()>& run) {
  const std::string path = std::filesystem::temp_directory_path() / ("dfccl-said-" + std::to_string(getpid()));
  const int before = dup(2);
  const int file = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  dup2(file, 2);
  close(file);
  run();
  dup2(before, 2);
  close(before);
  std::ostringstream said;
  said << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return said.str();
}

}  // namespace dfccl::nccl::test
