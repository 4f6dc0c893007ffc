#pragma once
#include <cstdint>
#include <string_view>

namespace dfccl_torch {

/// 64 bits that are the same in every process, as std::hash's need not be (FNV-1a).
inline uint64_t hashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char character : text) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3;
  return hash;
}

/// @return `first` where `second` is 0, so that what isn't tagged keeps its number.
inline uint64_t mixed(uint64_t first, uint64_t second) {
  if (second == 0) return first;
  uint64_t bits = first + 0x9e3779b97f4a7c15 * second;  // SplitMix64
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

}  // namespace dfccl_torch
