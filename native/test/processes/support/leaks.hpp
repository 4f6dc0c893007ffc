#pragma once
// What processes could leave behind them on this machine.
#include <dirent.h>
#include <sched.h>

#include <chrono>
#include <fstream>
#include <set>
#include <string>

#include "processes/rendezvous.hpp"

namespace dfccl::test {

inline std::set<std::string> filesIn(const char* folder) {
  std::set<std::string> names;
  DIR* const directory = opendir(folder);
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory)) names.insert(entry->d_name);
  closedir(directory);
  return names;
}

/// Shared memory with a name of this library's; other programs of the machine come and go with theirs.
inline std::set<std::string> sharedMemories() {
  std::set<std::string> names = filesIn("/dev/shm");
  std::erase_if(names, [](const std::string& name) { return name.find("dfccl") == std::string::npos; });
  return names;
}

/// Sockets of this machine that are, or were accepted at, the rendezvous of a job.
inline int socketsOf(const std::string& job) {
  const std::string name = "@" + rendezvous::socketName(job);
  int count = 0;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) count += line.ends_with(name);
  return count;
}

/// Looks until a rendezvous has that many sockets: the kernel tells nobody who is accepted elsewhere.
inline bool awaitSockets(const std::string& job, int atLeast, std::chrono::seconds limit = std::chrono::seconds(60)) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (socketsOf(job) < atLeast) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    sched_yield();
  }
  return true;
}

/// Names of this user's rendezvous that are open for jobs whose name begins with `prefix`.
inline std::set<std::string> openRendezvous(const std::string& prefix) {
  std::set<std::string> names;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const size_t at = line.find("@dfccl-");
    if (at != std::string::npos && line.find(prefix, at) != std::string::npos) names.insert(line.substr(at));
  }
  return names;
}

}  // namespace dfccl::test
