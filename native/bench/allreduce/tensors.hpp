#pragma once
// Float32 tensors to all-reduce, whose sums are exact in any order, and lists of their sizes.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../arguments.hpp"

namespace dfccl::bench {

/// Rank r holds (r + 1) * patternAt(i): small whole numbers.
inline float patternAt(uint64_t i) { return static_cast<float>((static_cast<uint32_t>(i) * 2654435761u) >> 26); }

struct Tensor {
  explicit Tensor(uint64_t byteCount)
      : bytes(byteCount),
        data(static_cast<float*>(std::aligned_alloc(4096, (byteCount + 4095) / 4096 * 4096)), &std::free) {
    std::memset(data.get(), 0, bytes);
  }
  uint64_t count() const { return bytes / sizeof(float); }
  void fill(uint32_t rank) {
    for (uint64_t i = 0; i < count(); ++i) data.get()[i] = static_cast<float>(rank + 1) * patternAt(i);
  }
  /// Elements that are not the sum over all ranks.
  uint64_t wrong(uint32_t ranks) const {
    const auto factor = static_cast<float>(ranks * (ranks + 1) / 2);
    uint64_t bad = 0;
    for (uint64_t i = 0; i < count(); ++i) bad += data.get()[i] != factor * patternAt(i);
    return bad;
  }

  uint64_t bytes;
  std::unique_ptr<float, decltype(&std::free)> data;
};

/// ResNet-50's 161 tensors, 102,228,128 bytes, as bytes x how many.
inline constexpr const char* kResnet50 =
    "256x14,512x16,1024x32,2048x22,4000x1,4096x14,8192x8,16384x1,37632x1,65536x6,131072x1,147456x3,262144x7,524288x2,"
    "589824x4,1048576x11,2097152x2,2359296x6,4194304x5,8192000x1,8388608x1,9437184x3";

/// "256x14,512x16" or "resnet50": sizes in bytes, one for each tensor.
inline std::vector<uint64_t> parseTensors(const std::string& text) {
  std::vector<uint64_t> sizes;
  for (const std::string& part : split(text == "resnet50" ? kResnet50 : text, ',')) {
    const std::vector<std::string> pair = split(part, 'x');
    const uint64_t times = pair.size() > 1 ? std::strtoull(pair[1].c_str(), nullptr, 10) : 1;
    sizes.insert(sizes.end(), times, std::strtoull(pair[0].c_str(), nullptr, 10));
  }
  return sizes;
}

}  // namespace dfccl::bench
