// How fast reduceCopy moves bytes, beside memcpy and a naive loop. GB/s counts every byte of every operand once, read
// or written. Medians of several rounds; the machine's state changes, so compare within one run only.
//
//   reduce_copy_bench             the common paths
//   reduce_copy_bench --types     every type and operator, in cache
//   reduce_copy_bench --families  each kernel family and strategy by itself
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../../src/reduce_copy/cache_size.hpp"
#include "../../src/reduce_copy/execute.hpp"
#include "base/reduce_copy.hpp"

namespace {

using namespace dfccl;
using reduce_copy::Strategy;

// A caller hands reduceCopy slices of about this size, one after another.
constexpr size_t kSliceBytes = 64 << 10;

const char* const kTypeNames[] = {"int8",    "uint8",   "int32",   "uint32",   "int64",      "uint64",
                                  "float16", "float32", "float64", "bfloat16", "float8e4m3", "float8e5m2"};
const char* const kOpNames[] = {"sum", "prod", "min", "max", "avg", "scaledSum", "bitAnd", "bitOr", "bitXor"};

template <class Work>
double medianSeconds(const Work& work) {
  using Clock = std::chrono::steady_clock;
  const auto timed = [&](int repeats) {
    const auto begin = Clock::now();
    for (int i = 0; i < repeats; ++i) {
      work();
      asm volatile("" ::: "memory");  // or a compiler may run a copy once instead of many times
    }
    return std::chrono::duration<double>(Clock::now() - begin).count() / repeats;
  };
  work();
  const double once = std::max(timed(1), 1e-8);
  const int repeats = std::clamp(static_cast<int>(2e-3 / once), 1, 20000);
  std::vector<double> rounds;
  for (int i = 0; i < 9; ++i) rounds.push_back(timed(repeats));
  std::nth_element(rounds.begin(), rounds.begin() + 4, rounds.end());
  return rounds[4];
}

struct FreeDeleter {
  void operator()(void* p) const { std::free(p); }
};

/// Page-aligned operands that hold the number one of their type, or near it: no slow subnormals, no overflow.
struct Buffers {
  Buffers(int sources, int destinations, size_t bytes) : sourceCount(sources), destinationCount(destinations) {
    for (int i = 0; i < sources + destinations; ++i) {
      void* p = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
      std::memset(p, 0x3c, bytes);
      owned.emplace_back(p);
    }
  }

  const char* source(int i) const { return static_cast<const char*>(owned[static_cast<size_t>(i)].get()); }
  char* destination(int i) const { return static_cast<char*>(owned[static_cast<size_t>(sourceCount + i)].get()); }

  int sourceCount;
  int destinationCount;
  std::vector<std::unique_ptr<void, FreeDeleter>> owned;
};

/// The calls, prepared, that cover operands slice by slice.
class Slices {
 public:
  Slices(const Buffers& buffers, DataType type, ReduceOp op, size_t bytes) {
    static const std::vector<double> scales(64, 0.5);
    for (size_t at = 0; at < bytes; at += kSliceBytes) {
      std::vector<const void*> sources;
      std::vector<void*> destinations;
      for (int i = 0; i < buffers.sourceCount; ++i) sources.push_back(buffers.source(i) + at);
      for (int i = 0; i < buffers.destinationCount; ++i) destinations.push_back(buffers.destination(i) + at);
      sources_.push_back(std::move(sources));
      destinations_.push_back(std::move(destinations));
      args.push_back({.sources = sources_.back().data(),
                      .sourceCount = buffers.sourceCount,
                      .destinations = destinations_.back().data(),
                      .destinationCount = buffers.destinationCount,
                      .count = std::min(kSliceBytes, bytes - at) / sizeOf(type),
                      .scales = op == ReduceOp::scaledSum ? scales.data() : nullptr,
                      .divisor = op == ReduceOp::avg ? 7u : 0u,
                      .workingSetBytes = bytes * buffers.owned.size()});
    }
  }

  std::vector<ReduceCopyArgs> args;

 private:
  std::vector<std::vector<const void*>> sources_;
  std::vector<std::vector<void*>> destinations_;
};

template <class Work>
double gigabytes(const Buffers& buffers, size_t bytes, const Work& work) {
  return static_cast<double>(bytes * buffers.owned.size()) / medianSeconds(work) / 1e9;
}

template <class Reduce>
double reduceRate(const Buffers& buffers, DataType type, ReduceOp op, size_t bytes, const Reduce& reduce) {
  const Slices slices(buffers, type, op, bytes);
  return gigabytes(buffers, bytes, [&] {
    for (const ReduceCopyArgs& args : slices.args) reduce(args);
  });
}

/// The sum that one would write first: a loop over the elements, the sources, the destinations.
void naiveSum(const ReduceCopyArgs& args) {
  for (size_t i = 0; i < args.count; ++i) {
    float sum = static_cast<const float*>(args.sources[0])[i];
    for (int k = 1; k < args.sourceCount; ++k) sum += static_cast<const float*>(args.sources[k])[i];
    for (int j = 0; j < args.destinationCount; ++j) static_cast<float*>(args.destinations[j])[i] = sum;
  }
}

double memcpyRate(size_t bytes, int pairs) {
  const Buffers buffers(pairs, pairs, bytes);
  return gigabytes(buffers, bytes, [&] {
    for (int i = 0; i < pairs; ++i) std::memcpy(buffers.destination(i), buffers.source(i), bytes);
  });
}

std::string sizeName(size_t bytes) {
  if (bytes >= 1 << 20) return std::to_string(bytes >> 20) + " M";
  if (bytes >= 1 << 10) return std::to_string(bytes >> 10) + " K";
  return std::to_string(bytes) + " B";
}

void commonPaths() {
  std::printf("float32 sum, kernels: %s, last-level cache %s; GB/s\n\n", reduceCopyKernelName(),
              sizeName(reduce_copy::lastLevelCacheBytes()).c_str());
  std::printf("%-8s %-10s %10s %10s %10s %14s\n", "bytes", "operands", "reduceCopy", "naive", "memcpy",
              "ns, reduceCopy");
  for (const int ranks : {2, 4, 8}) {
    for (const size_t bytes : {size_t{8}, size_t{1} << 10, size_t{8} << 10, size_t{32} << 10, size_t{128} << 10,
                               size_t{1} << 20, size_t{4} << 20, size_t{32} << 20}) {
      for (const int destinations : {1, ranks}) {
        const Buffers buffers(ranks, destinations, bytes);
        const double ours =
            reduceRate(buffers, DataType::float32, ReduceOp::sum, bytes,
                       [](const ReduceCopyArgs& args) { reduceCopy(DataType::float32, ReduceOp::sum, args); });
        const double naive = reduceRate(buffers, DataType::float32, ReduceOp::sum, bytes, naiveSum);
        const double copied = memcpyRate(bytes, (ranks + destinations) / 2);
        const std::string operands = std::to_string(ranks) + " -> " + std::to_string(destinations);
        const double nanoseconds = static_cast<double>(bytes * buffers.owned.size()) / ours;
        std::printf("%-8s %-10s %10.1f %10.1f %10.1f %14.1f\n", sizeName(bytes).c_str(), operands.c_str(), ours, naive,
                    copied, nanoseconds);
      }
    }
  }
}

void everyType() {
  constexpr size_t kBytes = 32 << 10;
  std::printf("2 sources to 1 destination and 8 to 8, 32 K each, kernels: %s; GB/s\n\n", reduceCopyKernelName());
  std::printf("%-12s", "type");
  for (const char* op : kOpNames) std::printf(" %9s %9s", op, "8 -> 8");
  std::printf("\n");
  const Buffers two(2, 1, kBytes);
  const Buffers eight(8, 8, kBytes);
  for (int t = 0; t < kDataTypeCount; ++t) {
    std::printf("%-12s", kTypeNames[t]);
    for (int o = 0; o < kReduceOpCount; ++o) {
      const auto type = static_cast<DataType>(t);
      const auto op = static_cast<ReduceOp>(o);
      if (!isDefined(op, type)) {
        std::printf(" %9s %9s", "", "");
        continue;
      }
      const auto reduce = [&](const ReduceCopyArgs& args) { reduceCopy(type, op, args); };
      const double small = reduceRate(two, type, op, kBytes, reduce);
      const double large = reduceRate(eight, type, op, kBytes, reduce);
      std::printf(" %9.1f %9.1f", small, large);
    }
    std::printf("\n");
  }
}

void everyFamily() {
  std::printf("float32 sum by family and strategy; GB/s\n\n");
  std::printf("%-8s %-10s %-10s %10s %10s %10s\n", "bytes", "operands", "family", "direct", "staged", "streamed");
  for (const int ranks : {2, 3, 4, 6, 8, 16}) {
    for (const size_t bytes : {size_t{8} << 10, size_t{16} << 10, size_t{32} << 10, size_t{64} << 10, size_t{128} << 10,
                               size_t{256} << 10, size_t{1} << 20, size_t{4} << 20, size_t{16} << 20}) {
      for (const int destinations : {1, 2, ranks}) {
        if (destinations == 2 && ranks == 2) continue;
        const Buffers buffers(ranks, destinations, bytes);
        for (const reduce_copy::KernelFamily* family : reduce_copy::availableFamilies()) {
          const std::string operands = std::to_string(ranks) + " -> " + std::to_string(destinations);
          std::printf("%-8s %-10s %-10s", sizeName(bytes).c_str(), operands.c_str(), family->name);
          for (const Strategy strategy : {Strategy::direct, Strategy::staged, Strategy::streamed}) {
            const double rate =
                reduceRate(buffers, DataType::float32, ReduceOp::sum, bytes, [&](const ReduceCopyArgs& args) {
                  reduce_copy::executeWith(*family, strategy, DataType::float32, ReduceOp::sum, args);
                });
            std::printf(" %10.1f", rate);
          }
          std::printf("\n");
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "--types") {
    everyType();
  } else if (mode == "--families") {
    everyFamily();
  } else if (mode.empty()) {
    commonPaths();
  } else {
    std::fprintf(stderr, "usage: reduce_copy_bench [--types | --families]\n");
    return 2;
  }
}
