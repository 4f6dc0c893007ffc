#pragma once
// What a case's time is, of the times of all that took part.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace dfccl::bench {

/// In the order of nccl-tests' numbers.
enum class Average : uint8_t { rank0, mean, least, most };

/// @pre !values.empty()
inline double averageOf(const std::vector<double>& values, Average average) {
  switch (average) {
    case Average::rank0:
      return values.front();
    case Average::least:
      return *std::min_element(values.begin(), values.end());
    case Average::most:
      return *std::max_element(values.begin(), values.end());
    case Average::mean:
      break;
  }
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace dfccl::bench
