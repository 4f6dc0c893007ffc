// The definition of reduceCopy's bits: one element after another, no vectors, no cleverness.

// A multiplication and an addition must round twice: contracted into one instruction, they would give other bits on a
// CPU that has it.
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#include <cstring>

#include "base/reduce_copy.hpp"
#include "numeric/element.hpp"

namespace dfccl {
namespace {

using namespace element;

template <class T>
T loadElement(const void* base, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(base) + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void reduceElements(ReduceOp op, const ReduceCopyArgs& args) {
  using Value = typename Element<T>::Value;
  const bool isScaled = op == ReduceOp::scaledSum && args.scales != nullptr;
  const bool isDivided = op == ReduceOp::avg && args.divisor > 1;
  for (size_t i = 0; i < args.count; ++i) {
    T result = loadElement<T>(args.sources[0], i);
    if (args.sourceCount > 1 || isScaled || isDivided) {
      Value value{};
      for (int k = 0; k < args.sourceCount; ++k) {
        Value next = Element<T>::read(loadElement<T>(args.sources[k], i));
        if (isScaled) next = wrappingMultiply(next, convertScale<Value>(args.scales[k]));
        value = k == 0 ? next : fold(op, value, next);
      }
      if (isDivided) value = divide(value, args.divisor);
      result = Element<T>::write(withCanonicalNan(value));
    }
    for (int j = 0; j < args.destinationCount; ++j) {
      std::memcpy(static_cast<char*>(args.destinations[j]) + i * sizeof(T), &result, sizeof(T));
    }
  }
}

}  // namespace

void reduceCopyReference(DataType type, ReduceOp op, const ReduceCopyArgs& args) {
  switch (type) {
    case DataType::int8:
      return reduceElements<int8_t>(op, args);
    case DataType::uint8:
      return reduceElements<uint8_t>(op, args);
    case DataType::int32:
      return reduceElements<int32_t>(op, args);
    case DataType::uint32:
      return reduceElements<uint32_t>(op, args);
    case DataType::int64:
      return reduceElements<int64_t>(op, args);
    case DataType::uint64:
      return reduceElements<uint64_t>(op, args);
    case DataType::float16:
      return reduceElements<Float16>(op, args);
    case DataType::float32:
      return reduceElements<float>(op, args);
    case DataType::float64:
      return reduceElements<double>(op, args);
    case DataType::bfloat16:
      return reduceElements<BFloat16>(op, args);
    case DataType::float8e4m3:
      return reduceElements<Float8E4M3>(op, args);
    case DataType::float8e5m2:
      return reduceElements<Float8E5M2>(op, args);
  }
}

}  // namespace dfccl
