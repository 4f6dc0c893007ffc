#include "bench/all_reduces.hpp"

namespace dfccl::gpu::bench {

std::vector<uint64_t> elementCountsOf(const std::string& list) {
  // Bytes and how often, of the papers' models in float32.
  static const std::vector<std::pair<uint64_t, int>> resnet50 = {
      {256, 14},    {512, 16},    {1024, 32},   {2048, 22},   {4000, 1},    {4096, 14},  {8192, 8},   {16384, 1},
      {37632, 1},   {65536, 6},   {131072, 1},  {147456, 3},  {262144, 7},  {524288, 2}, {589824, 4}, {1048576, 11},
      {2097152, 2}, {2359296, 6}, {4194304, 5}, {8192000, 1}, {8388608, 1}, {9437184, 3}};
  std::vector<uint64_t> counts;
  const auto add = [&](uint64_t elements, int times = 1) {
    counts.insert(counts.end(), static_cast<size_t>(times), elements);
  };
  if (list == "resnet50") {
    for (const auto& [bytes, times] : resnet50) add(bytes / 4, times);
  } else if (list == "gpt2") {
    const uint64_t d = 768;
    add(50257 * d);
    add(1024 * d);
    for (int layer = 0; layer < 12; ++layer) {
      for (const uint64_t n : {d, d, d * 3 * d, 3 * d, d * d, d, d, d, d * 4 * d, 4 * d, 4 * d * d, d}) add(n);
    }
    add(d, 2);
  } else if (list == "vit") {
    const uint64_t d = 768;
    for (const uint64_t n : {d, 197 * d, d * 3 * 16 * 16, d}) add(n);
    for (int layer = 0; layer < 12; ++layer) {
      for (const uint64_t n : {d, d, 3 * d * d, 3 * d, d * d, d, d, d, 4 * d * d, 4 * d, 4 * d * d, d}) add(n);
    }
    for (const uint64_t n : {d, d, 1000 * d, uint64_t{1000}}) add(n);
  } else {
    for (uint64_t bytes = 256; bytes <= (1 << 20); bytes *= 4) add(bytes / 4);
    add(512 / 4);
    counts.resize(8, 131072 / 4);
  }
  return counts;
}

}  // namespace dfccl::gpu::bench
