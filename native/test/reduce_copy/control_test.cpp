// The comparison of kernels_test.cpp catches the mistakes that kernels make: each is built here on purpose, and
// refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "comparison.hpp"

namespace {

using namespace dfccl;
using namespace dfccl::test;
using reduce_copy::KernelCall;
using reduce_copy::KernelFamily;
using reduce_copy::ReduceKernel;
using reduce_copy::Strategy;

constexpr double kScales[] = {0.1, 0.3, -0.7, 1.1, 2.3};

template <class T>
T at(const void* base, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(base) + index * sizeof(T), sizeof(T));
  return value;
}

/// A kernel that folds like `step` and is otherwise right: T elements, accumulated as A.
template <class T, class A, A (*read)(T), T (*write)(A), A (*step)(A, A, double), size_t kShort = 0>
void foldingKernel(const KernelCall& call) {
  if (call.count < kShort) return;
  for (size_t i = 0; i < call.count - kShort; ++i) {
    A value = read(at<T>(call.sources[0], call.sourceOffset + i));
    // -0 is what a sum can begin with and leave every first value as it is.
    if (call.scales != nullptr) value = step(-A{}, value, call.scales[0]);
    for (int k = 1; k < call.sourceCount; ++k) {
      value = step(value, read(at<T>(call.sources[k], call.sourceOffset + i)),
                   call.scales != nullptr ? call.scales[k] : 1.0);
    }
    const T result = write(value);
    for (int j = 0; j < call.destinationCount; ++j) {
      std::memcpy(static_cast<char*>(call.destinations[j]) + (call.destinationOffset + i) * sizeof(T), &result,
                  sizeof(T));
    }
  }
}

float same(float value) { return value; }
float withCanonicalNan(float value) { return value == value ? value : __builtin_bit_cast(float, kNan32); }
float plus(float a, float b, double) { return a + b; }

float contracted(float sum, float value, double scale) { return std::fma(value, static_cast<float>(scale), sum); }
// volatile, so that no compiler contracts the right one behind our back.
float uncontracted(float sum, float value, double scale) {
  volatile const float product = value * static_cast<float>(scale);
  return sum + product;
}

// What minps computes: NaN is lost or kept by operand order, and -0 is whatever comes second.
float lessOrSecond(float a, float b, double) { return a < b ? a : b; }
float ignoringNan(float a, float b, double) { return std::fmin(a, b); }
float orderedMin(float a, float b, double) {
  if (a != a || b != b) return __builtin_bit_cast(float, kNan32);
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

// Rounds after every source instead of once.
float widenHalf(Float16 value) { return widen(value); }
Float16 roundHalf(float value) { return roundTo<Float16>(value); }
float roundingPlus(float a, float b, double) { return widen(roundTo<Float16>(a + b)); }

// A conversion that cuts instead of rounding.
Float16 truncateToHalf(float value) {
  const Float16 nearest = roundTo<Float16>(value);
  const bool isTooFar = std::fabs(widen(nearest)) > std::fabs(value) && std::isfinite(value);
  return isTooFar ? Float16{static_cast<uint16_t>(nearest.bits - 1)} : nearest;
}

// Sums the sources from the last to the first.
void reversedSum(const KernelCall& call) {
  std::vector<const void*> reversed(call.sources, call.sources + call.sourceCount);
  std::reverse(reversed.begin(), reversed.end());
  KernelCall turned = call;
  turned.sources = reversed.data();
  foldingKernel<float, float, same, withCanonicalNan, plus>(turned);
}

// Writes the first destination before it has read the other sources.
void accumulatingInDestination(const KernelCall& call) {
  for (int k = 0; k < call.sourceCount; ++k) {
    for (size_t i = 0; i < call.count; ++i) {
      float value = at<float>(call.sources[k], call.sourceOffset + i);
      if (k > 0) value = withCanonicalNan(at<float>(call.destinations[0], call.destinationOffset + i) + value);
      std::memcpy(static_cast<char*>(call.destinations[0]) + (call.destinationOffset + i) * sizeof(float), &value,
                  sizeof(float));
    }
  }
  for (int j = 1; j < call.destinationCount; ++j) {
    std::memcpy(static_cast<char*>(call.destinations[j]) + call.destinationOffset * sizeof(float),
                static_cast<char*>(call.destinations[0]) + call.destinationOffset * sizeof(float),
                call.count * sizeof(float));
  }
}

// Right, and then one byte too many.
void overrunning(const KernelCall& call) {
  foldingKernel<float, float, same, withCanonicalNan, plus>(call);
  for (int j = 0; j < call.destinationCount; ++j) {
    static_cast<char*>(call.destinations[j])[(call.destinationOffset + call.count) * sizeof(float)] = 0;
  }
}

/// Whether the comparison refuses `kernel` in any of some seeds.
bool isCaught(ReduceKernel kernel, const Case& c) {
  KernelFamily family = *reduce_copy::availableFamilies().back();
  family.name = "control";
  family.reduce[static_cast<int>(c.type)][static_cast<int>(c.op)] = kernel;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    if (!Expectation(c, seed).mismatch(family, Strategy::direct).empty()) return true;
  }
  return false;
}

Case floatCase(ReduceOp op) {
  return {.type = DataType::float32, .op = op, .sourceCount = 5, .destinationCount = 2, .count = 100};
}

TEST_CASE("a plain kernel that is right passes, so what the others are refused for is their mistake") {
  CHECK_FALSE(isCaught(foldingKernel<float, float, same, withCanonicalNan, plus>, floatCase(ReduceOp::sum)));
  CHECK_FALSE(isCaught(foldingKernel<float, float, same, withCanonicalNan, orderedMin>, floatCase(ReduceOp::min)));
  Case scaled = floatCase(ReduceOp::scaledSum);
  scaled.scales = kScales;
  CHECK_FALSE(isCaught(foldingKernel<float, float, same, withCanonicalNan, uncontracted>, scaled));
  Case half = floatCase(ReduceOp::sum);
  half.type = DataType::float16;
  CHECK_FALSE(isCaught(foldingKernel<Float16, float, widenHalf, roundHalf, plus>, half));
}

TEST_CASE("a multiplication and an addition contracted into one rounding are caught") {
  Case scaled = floatCase(ReduceOp::scaledSum);
  scaled.scales = kScales;
  CHECK(isCaught(foldingKernel<float, float, same, withCanonicalNan, contracted>, scaled));
}

TEST_CASE("a minimum that drops NaN, or leaves zeros in any order, is caught") {
  CHECK(isCaught(foldingKernel<float, float, same, withCanonicalNan, lessOrSecond>, floatCase(ReduceOp::min)));
  CHECK(isCaught(foldingKernel<float, float, same, withCanonicalNan, ignoringNan>, floatCase(ReduceOp::min)));
}

TEST_CASE("a NaN with another payload is caught") {
  CHECK(isCaught(foldingKernel<float, float, same, same, plus>, floatCase(ReduceOp::sum)));
}

TEST_CASE("a tail that stops one element early or goes one byte too far is caught") {
  CHECK(isCaught(foldingKernel<float, float, same, withCanonicalNan, plus, 1>, floatCase(ReduceOp::sum)));
  CHECK(isCaught(overrunning, floatCase(ReduceOp::sum)));
}

TEST_CASE("sources summed in another order are caught") { CHECK(isCaught(reversedSum, floatCase(ReduceOp::sum))); }

TEST_CASE("rounding after every source, or towards zero, is caught") {
  Case half = floatCase(ReduceOp::sum);
  half.type = DataType::float16;
  CHECK(isCaught(foldingKernel<Float16, float, widenHalf, roundHalf, roundingPlus>, half));
  CHECK(isCaught(foldingKernel<Float16, float, widenHalf, truncateToHalf, plus>, half));
}

TEST_CASE("writing a destination before all sources are read is caught in place, and only there") {
  Case c = floatCase(ReduceOp::sum);
  c.destinationCount = 5;
  CHECK_FALSE(isCaught(accumulatingInDestination, c));
  c.inPlace = true;
  CHECK(isCaught(accumulatingInDestination, c));
}

}  // namespace
