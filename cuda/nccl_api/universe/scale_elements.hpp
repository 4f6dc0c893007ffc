#pragma once
// What scaling does to each element, on the device and, where devices are simulated, on the host.
#include <cstdint>

#include "base/host_device.hpp"
#include "base/types.hpp"
#include "numeric/element.hpp"

namespace dfccl::nccl {

struct ScaledElements {
  void* to;
  const void* from;
  uint64_t count;
  DataType type;
  uint64_t bits;         // of the scalar, the lowest first
  const void* onDevice;  // where it is instead; null: it is in `bits`
};

template <class T>
DFCCL_HD void scaleElementsOf(const ScaledElements& e, uint64_t first, uint64_t step) {
  using Type = element::Element<T>;
  const void* const at = e.onDevice != nullptr ? e.onDevice : &e.bits;
  const auto scalar = Type::read(*static_cast<const T*>(at));
  for (uint64_t i = first; i < e.count; i += step) {
    const auto value = Type::read(static_cast<const T*>(e.from)[i]);
    static_cast<T*>(e.to)[i] = Type::write(element::withCanonicalNan(element::wrappingMultiply(value, scalar)));
  }
}

/// Every `step`th element from `first` on.
DFCCL_HD inline void scaleElements(const ScaledElements& e, uint64_t first, uint64_t step) {
  switch (e.type) {
    case DataType::int8:
      return scaleElementsOf<int8_t>(e, first, step);
    case DataType::uint8:
      return scaleElementsOf<uint8_t>(e, first, step);
    case DataType::int32:
      return scaleElementsOf<int32_t>(e, first, step);
    case DataType::uint32:
      return scaleElementsOf<uint32_t>(e, first, step);
    case DataType::int64:
      return scaleElementsOf<int64_t>(e, first, step);
    case DataType::uint64:
      return scaleElementsOf<uint64_t>(e, first, step);
    case DataType::float16:
      return scaleElementsOf<Float16>(e, first, step);
    case DataType::float32:
      return scaleElementsOf<float>(e, first, step);
    case DataType::float64:
      return scaleElementsOf<double>(e, first, step);
    case DataType::bfloat16:
      return scaleElementsOf<BFloat16>(e, first, step);
    case DataType::float8e4m3:
      return scaleElementsOf<Float8E4M3>(e, first, step);
    case DataType::float8e5m2:
      return scaleElementsOf<Float8E5M2>(e, first, step);
  }
}

}  // namespace dfccl::nccl
