#pragma once
// Programs of one's own for the engine: every rank's bytes in one file, each after its length (32 bits, little endian).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "perf/backend.hpp"
#include "perf/rank_programs.hpp"

namespace dfccl::bench {

inline std::vector<uint8_t> readFile(const std::string& path) {
  std::vector<uint8_t> bytes;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw PerfError(Exit::invalidUsage, path + " can't be read. Look at the path.");
  uint8_t part[4096];
  for (size_t n = 0; (n = std::fread(part, 1, sizeof part, file)) != 0;) bytes.insert(bytes.end(), part, part + n);
  std::fclose(file);
  return bytes;
}

/// One program a rank.
inline RankPrograms readRankPrograms(const std::string& path) {
  RankPrograms programs;
  const std::vector<uint8_t> bytes = readFile(path);
  for (size_t at = 0; at < bytes.size();) {
    uint32_t length = 0;
    if (bytes.size() - at < sizeof length) throw PerfError(Exit::invalidUsage, path + " ends in the middle.");
    std::memcpy(&length, &bytes[at], sizeof length);
    at += sizeof length;
    if (bytes.size() - at < length) throw PerfError(Exit::invalidUsage, path + " ends in the middle.");
    programs.emplace_back(bytes.begin() + static_cast<ptrdiff_t>(at),
                          bytes.begin() + static_cast<ptrdiff_t>(at + length));
    at += length;
  }
  return programs;
}

/// "PATH,PATH".
inline std::vector<RankPrograms> readChoices(const std::string& list) {
  std::vector<RankPrograms> choices;
  for (const std::string& path : split(list, ',')) choices.push_back(readRankPrograms(path));
  return choices;
}

/// "LANES:PATH,LANES:PATH"; none for an empty text.
inline ProgramsByLanes readPrograms(const std::string& list) {
  ProgramsByLanes programs;
  for (const std::string& part : split(list, ',')) {
    const size_t colon = part.find(':');
    const unsigned long lanes = std::strtoul(part.c_str(), nullptr, 10);
    if (colon == std::string::npos || lanes == 0) {
      throw PerfError(Exit::invalidUsage, part + " names no program: a number of blocks, a colon, a path.");
    }
    programs.emplace(static_cast<uint32_t>(lanes), readRankPrograms(part.substr(colon + 1)));
  }
  return programs;
}

}  // namespace dfccl::bench
