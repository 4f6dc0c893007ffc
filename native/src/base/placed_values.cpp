// The least and the greatest value with its place: operators that are ready for whoever wants them.
#include "base/placed_values.hpp"

namespace dfccl {
namespace {

template <class Placed>
bool isGreater(const Placed& one, const Placed& other) {
  return one.value > other.value;
}
template <class Placed>
bool isLess(const Placed& one, const Placed& other) {
  return one.value < other.value;
}

/// In an order without ties but of what is alike, NaN in front: so the result doesn't depend on who is combined first.
template <class Placed>
bool isBefore(const Placed& one, const Placed& other, bool (*isBetter)(const Placed&, const Placed&)) {
  const bool isNan = one.value != one.value, isOtherNan = other.value != other.value;
  if (isNan != isOtherNan) return isNan;
  if (isBetter(one, other) || isBetter(other, one)) return isBetter(one, other);
  return one.place < other.place;
}

template <class Placed, bool (*kIsBetter)(const Placed&, const Placed&)>
void combine(void* accumulated, const void* next, size_t count, dfcclDataType_t, void*) {
  auto* const all = static_cast<Placed*>(accumulated);
  const auto* const others = static_cast<const Placed*>(next);
  for (size_t i = 0; i < count; ++i) {
    if (isBefore(others[i], all[i], kIsBetter)) all[i] = others[i];
  }
}

static_assert(sizeof(dfcclPlacedFloat_t) == sizeof(uint64_t) && sizeof(dfcclPlacedInt_t) == sizeof(uint64_t));

}  // namespace

dfcclReduceFunction_t functionOf(dfcclPlacedOp_t op) {
  switch (op) {
    case dfcclMinPlacedFloat:
      return combine<dfcclPlacedFloat_t, isLess>;
    case dfcclMaxPlacedFloat:
      return combine<dfcclPlacedFloat_t, isGreater>;
    case dfcclMinPlacedInt:
      return combine<dfcclPlacedInt_t, isLess>;
    case dfcclMaxPlacedInt:
      return combine<dfcclPlacedInt_t, isGreater>;
  }
  return nullptr;
}

}  // namespace dfccl
