#include "cache_size.hpp"

#include <algorithm>
#include <cstdio>
#include <thread>

namespace dfccl::reduce_copy {
namespace {

constexpr size_t kAssumedCacheBytes = 32 << 20;

// From sysfs, as "32768K": sysconf() multiplies by the number of caches on some virtual machines.
size_t readLastLevelCacheBytes() {
  std::FILE* file = std::fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
  if (file == nullptr) return kAssumedCacheBytes;
  unsigned long number = 0;
  char unit = 'B';
  const bool isRead = std::fscanf(file, "%lu%c", &number, &unit) >= 1 && number > 0;
  std::fclose(file);
  if (!isRead) return kAssumedCacheBytes;
  const int shift = unit == 'K' ? 10 : unit == 'M' ? 20 : 0;
  return size_t{number} << shift;
}

}  // namespace

size_t lastLevelCacheBytes() {
  static const size_t bytes = readLastLevelCacheBytes();
  return bytes;
}

size_t expectedCacheBytes() {
  constexpr size_t kMostOfACore = 16 << 20;
  static const size_t bytes =
      std::min(lastLevelCacheBytes(), std::max(1u, std::thread::hardware_concurrency()) * kMostOfACore);
  return bytes;
}

}  // namespace dfccl::reduce_copy
