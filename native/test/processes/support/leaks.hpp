#pragma once
// What processes could leave behind them on this machine.
#include <dirent.h>

#include <fstream>
#include <set>
#include <string>

namespace dfccl::test {

inline std::set<std::string> filesIn(const char* folder) {
  std::set<std::string> names;
  DIR* const directory = opendir(folder);
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory)) names.insert(entry->d_name);
  closedir(directory);
  return names;
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
