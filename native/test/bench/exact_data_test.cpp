// The collective tests' data: whatever the order of reduction, the bits are the same, and every rank leaves its mark.
#include "perf/exact_data.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <random>
#include <vector>

using namespace dfccl;
using namespace dfccl::bench;

namespace {

constexpr uint64_t kCount = 256;

/// Reduces all ranks' inputs in the given order, each partial result rounded to the type, as messages between ranks
/// are.
template <class T>
std::vector<T> reduceInOrder(const std::vector<std::vector<T>>& inputs, ReduceOp op,
                             const std::vector<uint32_t>& order) {
  using Value = typename element::Element<T>::Value;
  std::vector<T> result(kCount);
  for (uint64_t i = 0; i < kCount; ++i) {
    const auto of = [&](uint32_t rank) {
      const Value value = element::Element<T>::read(inputs[rank][i]);
      return op == ReduceOp::scaledSum ? element::wrappingMultiply(value, static_cast<Value>(scaleOf(rank))) : value;
    };
    T partial = element::Element<T>::write(of(order[0]));
    for (size_t k = 1; k < order.size(); ++k) {
      partial = element::Element<T>::write(element::fold(op, element::Element<T>::read(partial), of(order[k])));
    }
    if (op == ReduceOp::avg) {
      const Value sum = element::Element<T>::read(partial);
      partial = element::Element<T>::write(element::divide(sum, static_cast<uint32_t>(order.size())));
    }
    result[i] = partial;
  }
  return result;
}

template <class T>
bool isSame(const std::vector<T>& a, const std::vector<T>& b) {
  return differingElements(a.data(), b.data(), kCount, sizeof(T)) == 0;
}

template <class Check>
void forAll(const Check& check) {
  for (int type = 0; type < kDataTypeCount; ++type) {
    for (int op = 0; op < kReduceOpCount; ++op) {
      if (!isDefined(static_cast<ReduceOp>(op), static_cast<DataType>(type))) continue;
      for (const uint32_t ranks : {1u, 2u, 3u, 5u, 8u, 16u, 33u}) {
        CAPTURE(type);
        CAPTURE(op);
        CAPTURE(ranks);
        const ExactData data(static_cast<DataType>(type), static_cast<ReduceOp>(op), ranks, 7);
        withElement(static_cast<DataType>(type), [&]<class T>(T) {
          std::vector<std::vector<T>> inputs(ranks, std::vector<T>(kCount));
          for (uint32_t r = 0; r < ranks; ++r) data.fill(inputs[r].data(), 0, kCount, r);
          std::vector<T> expected(kCount);
          data.reduce(expected.data(), 0, kCount);
          check(inputs, expected, static_cast<ReduceOp>(op), ranks);
        });
      }
    }
  }
}

std::vector<uint32_t> inOrder(uint32_t ranks) {
  std::vector<uint32_t> order(ranks);
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

}  // namespace

TEST_CASE("every order of reduction gives the bits that are expected") {
  std::mt19937 random(1);
  forAll([&]<class T>(const std::vector<std::vector<T>>& inputs, const std::vector<T>& expected, ReduceOp op,
                      uint32_t ranks) {
    std::vector<uint32_t> order = inOrder(ranks);
    for (int round = 0; round < 4; ++round) {
      CHECK(isSame(reduceInOrder(inputs, op, order), expected));
      std::shuffle(order.begin(), order.end(), random);
    }
  });
}

TEST_CASE("a rank that is missing shows, whichever it is") {
  forAll([&]<class T>(const std::vector<std::vector<T>>& inputs, const std::vector<T>& expected, ReduceOp op,
                      uint32_t ranks) {
    if (ranks == 1) return;
    for (uint32_t missing = 0; missing < ranks; ++missing) {
      std::vector<std::vector<T>> without = inputs;
      without[missing] = inputs[(missing + 1) % ranks];
      CHECK_FALSE(isSame(reduceInOrder(without, op, inOrder(ranks)), expected));
    }
  });
}

TEST_CASE("plain random numbers would not do: their sums depend on the order") {
  std::mt19937 random(1);
  std::vector<std::vector<float>> inputs(8, std::vector<float>(kCount));
  for (auto& input : inputs) {
    for (float& value : input) value = static_cast<float>(random()) / 4.0e9f;
  }
  std::vector<uint32_t> backwards = inOrder(8);
  std::reverse(backwards.begin(), backwards.end());
  CHECK_FALSE(
      isSame(reduceInOrder(inputs, ReduceOp::sum, inOrder(8)), reduceInOrder(inputs, ReduceOp::sum, backwards)));
}

TEST_CASE("a part of the data is the same as that part of the whole") {
  const ExactData data(DataType::float32, ReduceOp::sum, 4, 3);
  std::vector<float> whole(kCount), part(10);
  data.fill(whole.data(), 0, kCount, 2);
  data.fill(part.data(), 100, part.size(), 2);
  CHECK(std::memcmp(part.data(), &whole[100], part.size() * sizeof(float)) == 0);
  data.reduce(whole.data(), 0, kCount);
  data.reduce(part.data(), 100, part.size());
  CHECK(std::memcmp(part.data(), &whole[100], part.size() * sizeof(float)) == 0);
}
