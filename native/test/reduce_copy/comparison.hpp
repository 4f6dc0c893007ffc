#pragma once
// Runs one reduce-copy twice, with a kernel family and with the reference, and compares every byte: results, and the
// bytes around them.
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../../src/reduce_copy/execute.hpp"
#include "numeric/small_float.hpp"

namespace dfccl::test {

inline const char* nameOf(DataType type) {
  constexpr const char* names[] = {"int8",    "uint8",   "int32",   "uint32",   "int64",      "uint64",
                                   "float16", "float32", "float64", "bfloat16", "float8e4m3", "float8e5m2"};
  return names[static_cast<int>(type)];
}

inline const char* nameOf(ReduceOp op) {
  constexpr const char* names[] = {"sum", "prod", "min", "max", "avg", "scaledSum", "bitAnd", "bitOr", "bitXor"};
  return names[static_cast<int>(op)];
}

inline const char* nameOf(reduce_copy::Strategy strategy) {
  constexpr const char* names[] = {"direct", "staged", "streamed"};
  return names[static_cast<int>(strategy)];
}

struct Case {
  DataType type;
  ReduceOp op;
  int sourceCount;
  int destinationCount;
  size_t count;
  bool inPlace = false;    // destination 0 is the last source, 1 the one before it, and so on
  bool isAligned = false;  // otherwise every operand has an odd offset of its own
  uint32_t divisor = 0;
  const double* scales = nullptr;
};

inline std::string describe(const Case& c) {
  return std::string(nameOf(c.type)) + " " + nameOf(c.op) + " of " + std::to_string(c.sourceCount) + " sources to " +
         std::to_string(c.destinationCount) + " destinations, " + std::to_string(c.count) + " elements" +
         (c.inPlace ? ", in place" : "") + (c.isAligned ? ", aligned" : ", unaligned") +
         (c.scales != nullptr ? ", scaled" : "") + ", divisor " + std::to_string(c.divisor);
}

/// Bit patterns in which everything meets everything: any bits, special values, and ordinary numbers.
class Patterns {
 public:
  explicit Patterns(uint64_t seed) : random_(seed) {}

  void fill(DataType type, char* at, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const uint64_t bits = next(type);
      std::memcpy(at + i * sizeOf(type), &bits, sizeOf(type));
    }
  }

 private:
  // Exponent all zeros or all ones, fraction all zeros, all ones or one, either sign: zeros, subnormals, infinities,
  // NaN, and for integers their extremes and neighbours.
  uint64_t special(DataType type) {
    const int width = static_cast<int>(sizeOf(type)) * 8;
    const int fractions[kDataTypeCount] = {0, 0, 0, 0, 0, 0, 10, 23, 52, 7, 3, 2};
    const int fraction = fractions[static_cast<int>(type)];
    const uint64_t choices[] = {0, (uint64_t{1} << fraction) - 1, 1};
    const uint64_t exponent = (random_() & 1) != 0 ? ~uint64_t{0} << fraction : 0;
    const uint64_t positive = (exponent | choices[random_() % 3]) & ~(uint64_t{1} << (width - 1));
    return positive | (random_() & 1) << (width - 1);
  }

  uint64_t ordinary(DataType type) {
    const auto whole = static_cast<int64_t>(random_() % 4001) - 2000;
    const double value = static_cast<double>(whole) / 16;
    const auto single = static_cast<float>(value);
    switch (type) {
      case DataType::float16:
        return roundTo<Float16>(single).bits;
      case DataType::float32:
        return __builtin_bit_cast(uint32_t, single + static_cast<float>(random_() % 1000) * 1e-6f);
      case DataType::float64:
        return __builtin_bit_cast(uint64_t, value + static_cast<double>(random_() % 1000) * 1e-14);
      case DataType::bfloat16:
        return roundTo<BFloat16>(single).bits;
      case DataType::float8e4m3:
        return roundTo<Float8E4M3>(single).bits;
      case DataType::float8e5m2:
        return roundTo<Float8E5M2>(single).bits;
      default:
        return static_cast<uint64_t>(whole);
    }
  }

  uint64_t next(DataType type) {
    switch (random_() % 4) {
      case 0:
        return random_();
      case 1:
        return special(type);
      default:
        return ordinary(type);
    }
  }

  std::mt19937_64 random_;
};

/// Sources and destinations in buffers of their own, surrounded by bytes that nobody may touch.
class Operands {
 public:
  static constexpr size_t kGuard = 192;

  Operands(const Case& c, uint64_t seed) {
    Patterns patterns(seed);
    std::mt19937_64 random(seed + 1);
    const size_t bytes = c.count * sizeOf(c.type);
    const auto add = [&] {
      const size_t offset = kGuard / 2 + (c.isAligned ? 0 : random() % 64);
      buffers_.emplace_back(bytes + kGuard + 64, static_cast<char>(0xa5));
      const size_t misalignment = reinterpret_cast<uintptr_t>(buffers_.back().data()) % 64;
      offsets_.push_back(offset + (64 - misalignment) % 64 * (c.isAligned ? 1 : 0));
      return buffers_.size() - 1;
    };
    for (int k = 0; k < c.sourceCount; ++k) {
      patterns.fill(c.type, at(add()), c.count);
      sourceIndex_.push_back(buffers_.size() - 1);
    }
    for (int j = 0; j < c.destinationCount; ++j) {
      destinationIndex_.push_back(
          c.inPlace && j < c.sourceCount ? sourceIndex_[static_cast<size_t>(c.sourceCount - 1 - j)] : add());
    }
  }

  ReduceCopyArgs args(const Case& c) {
    sources_.clear();
    destinations_.clear();
    for (size_t i : sourceIndex_) sources_.push_back(at(i));
    for (size_t i : destinationIndex_) destinations_.push_back(at(i));
    return {.sources = sources_.data(),
            .sourceCount = c.sourceCount,
            .destinations = destinations_.data(),
            .destinationCount = c.destinationCount,
            .count = c.count,
            .scales = c.scales,
            .divisor = c.divisor};
  }

  /// Where two runs differ, or an empty string. The same case and seed must have made both.
  std::string differenceFrom(const Operands& other, size_t elementBytes) const {
    for (size_t b = 0; b < buffers_.size(); ++b) {
      const size_t length = buffers_[b].size() - (offsets_[b] > other.offsets_[b] ? offsets_[b] : other.offsets_[b]);
      if (std::memcmp(&buffers_[b][offsets_[b]], &other.buffers_[b][other.offsets_[b]], length) == 0 &&
          isGuardWhole(b)) {
        continue;
      }
      for (size_t i = 0; i < length; ++i) {
        if (buffers_[b][offsets_[b] + i] == other.buffers_[b][other.offsets_[b] + i]) continue;
        return "buffer " + std::to_string(b) + " differs at element " + std::to_string(i / elementBytes);
      }
      return "buffer " + std::to_string(b) + " was written before its beginning";
    }
    return {};
  }

 private:
  char* at(size_t buffer) { return buffers_[buffer].data() + offsets_[buffer]; }

  bool isGuardWhole(size_t b) const {
    for (size_t i = 0; i < offsets_[b]; ++i) {
      if (buffers_[b][i] != static_cast<char>(0xa5)) return false;
    }
    return true;
  }

  std::vector<std::vector<char>> buffers_;
  std::vector<size_t> offsets_;
  std::vector<size_t> sourceIndex_;
  std::vector<size_t> destinationIndex_;
  std::vector<const void*> sources_;
  std::vector<void*> destinations_;
};

/// What the reference makes of a case, to compare any number of kernels with.
class Expectation {
 public:
  Expectation(const Case& c, uint64_t seed) : case_(c), seed_(seed), expected_(c, seed) {
    reduceCopyReference(c.type, c.op, expected_.args(c));
  }

  /// @return An empty string where every bit agrees, else what differs.
  std::string mismatch(const reduce_copy::KernelFamily& family, reduce_copy::Strategy strategy) const {
    Operands actual(case_, seed_);
    reduce_copy::executeWith(family, strategy, case_.type, case_.op, actual.args(case_));
    const std::string difference = actual.differenceFrom(expected_, sizeOf(case_.type));
    if (difference.empty()) return {};
    return std::string(family.name) + ", " + nameOf(strategy) + ": " + describe(case_) + ", seed " +
           std::to_string(seed_) + ": " + difference;
  }

 private:
  Case case_;
  uint64_t seed_;
  Operands expected_;
};

}  // namespace dfccl::test
