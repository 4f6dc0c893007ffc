// Every kernel of this CPU gives the reference's bits, whatever the type, operator, operands, alignment and content.
#include <doctest/doctest.h>

#include "comparison.hpp"

namespace {

using namespace dfccl;
using namespace dfccl::test;
using reduce_copy::Strategy;

constexpr Strategy kStrategies[] = {Strategy::direct, Strategy::staged, Strategy::streamed};
constexpr size_t kCounts[] = {0, 1, 7, 8, 9, 31, 33, 1000, 4097};
constexpr double kScales[] = {0.5, -3.0, 1.0, 1e-3, 2.75, 1e30,    300.0, -0.0, 7.0,
                              1.0, 0.1,  3.0, -1.5, 2.0,  65537.0, 0.3,   9.0};
constexpr uint32_t kDivisors[] = {3, 2, 7, 8, 255, 257, 1000003, 4294967295u};

// One message for many comparisons: the first that failed.
void checkEverywhere(const Case& c, uint64_t seed) {
  const Expectation expectation(c, seed);
  for (const reduce_copy::KernelFamily* family : reduce_copy::availableFamilies()) {
    for (const Strategy strategy : kStrategies) {
      const std::string mismatch = expectation.mismatch(*family, strategy);
      CHECK_EQ(mismatch, "");
    }
  }
}

Case makeCase(DataType type, ReduceOp op, int sources, int destinations, size_t count) {
  Case c{.type = type, .op = op, .sourceCount = sources, .destinationCount = destinations, .count = count};
  if (op == ReduceOp::scaledSum) c.scales = kScales;
  if (op == ReduceOp::avg) c.divisor = kDivisors[static_cast<size_t>(sources) % 8];
  return c;
}

template <class Visit>
void forEachTypeAndOp(Visit visit) {
  for (int type = 0; type < kDataTypeCount; ++type) {
    for (int op = 0; op < kReduceOpCount; ++op) {
      if (isDefined(static_cast<ReduceOp>(op), static_cast<DataType>(type)))
        visit(static_cast<DataType>(type), static_cast<ReduceOp>(op));
    }
  }
}

TEST_CASE("every kernel equals the reference for each number of sources and odd count") {
  uint64_t seed = 1;
  forEachTypeAndOp([&](DataType type, ReduceOp op) {
    for (const int sources : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17}) {
      for (const size_t count : kCounts) {
        Case c = makeCase(type, op, sources, 1 + static_cast<int>(seed % 9), count);
        c.isAligned = seed % 5 == 0;
        checkEverywhere(c, seed++);
      }
    }
  });
}

TEST_CASE("every kernel equals the reference for each number of destinations") {
  uint64_t seed = 1000000;
  forEachTypeAndOp([&](DataType type, ReduceOp op) {
    for (int destinations = 1; destinations <= 9; ++destinations) {
      for (const size_t count : {size_t{9}, size_t{33}, size_t{1000}}) {
        checkEverywhere(makeCase(type, op, 2 + destinations % 3, destinations, count), seed++);
      }
    }
  });
}

TEST_CASE("a destination may be a source") {
  uint64_t seed = 2000000;
  forEachTypeAndOp([&](DataType type, ReduceOp op) {
    for (const int sources : {1, 2, 3, 4, 8, 9}) {
      for (const size_t count : {size_t{5}, size_t{33}, size_t{1000}, size_t{4097}}) {
        Case c = makeCase(type, op, sources, sources, count);
        c.inPlace = true;
        checkEverywhere(c, seed++);
      }
    }
  });
}

TEST_CASE("scaledSum without scales and avg without a divisor are sums; one source then keeps its bits") {
  uint64_t seed = 3000000;
  for (int type = 0; type < kDataTypeCount; ++type) {
    for (const int sources : {1, 2, 5}) {
      for (const ReduceOp op : {ReduceOp::scaledSum, ReduceOp::avg}) {
        Case c = makeCase(static_cast<DataType>(type), op, sources, 2, 333);
        c.scales = nullptr;
        c.divisor = 1;
        checkEverywhere(c, seed++);
      }
    }
  }
}

TEST_CASE("integers of every size divide exactly by any number of ranks") {
  uint64_t seed = 4000000;
  for (int type = 0; type <= static_cast<int>(DataType::uint64); ++type) {
    for (const uint32_t divisor :
         {2u, 3u, 5u, 127u, 128u, 255u, 256u, 65535u, 16777217u, 2147483647u, 2147483648u, 4294967295u}) {
      Case c = makeCase(static_cast<DataType>(type), ReduceOp::avg, 1, 1, 20000);
      c.divisor = divisor;
      checkEverywhere(c, seed++);
    }
  }
}

TEST_CASE("reduceCopy itself equals the reference, across the sizes where its strategy changes") {
  for (const size_t count : {size_t{10}, size_t{5000}, size_t{300000}}) {
    for (const int ranks : {2, 8}) {
      for (const size_t workingSet : {size_t{0}, size_t{1} << 40}) {
        const Case c = makeCase(DataType::float32, ReduceOp::sum, ranks, ranks, count);
        Operands expected(c, count);
        Operands actual(c, count);
        reduceCopyReference(c.type, c.op, expected.args(c));
        ReduceCopyArgs args = actual.args(c);
        args.workingSetBytes = workingSet;
        reduceCopy(c.type, c.op, args);
        CHECK_EQ(actual.differenceFrom(expected, sizeOf(c.type)), "");
      }
    }
  }
}

TEST_CASE("the name is that of the best family") {
  CHECK_EQ(std::string(reduceCopyKernelName()), reduce_copy::availableFamilies().front()->name);
}

}  // namespace
