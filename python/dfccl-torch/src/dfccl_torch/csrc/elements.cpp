#include "elements.hpp"

#include "hash.hpp"

namespace dfccl_torch {

uint64_t distinctionOfType(at::ScalarType type) { return mixed(hashOf("type"), static_cast<uint64_t>(type) + 1); }

std::optional<Elements> addedElements(at::ScalarType type) {
  switch (type) {
    case at::kChar:
      return Elements{dfcclInt8, 1};
    case at::kByte:
      return Elements{dfcclUint8, 1};
    case at::kBool:
      return Elements{dfcclUint8, 1, distinctionOfType(type)};
    case at::kInt:
      return Elements{dfcclInt32, 1};
    case at::kUInt32:
      return Elements{dfcclUint32, 1};
    case at::kLong:
      return Elements{dfcclInt64, 1};
    case at::kUInt64:
      return Elements{dfcclUint64, 1};
    case at::kHalf:
      return Elements{dfcclFloat16, 1};
    case at::kFloat:
      return Elements{dfcclFloat32, 1};
    case at::kDouble:
      return Elements{dfcclFloat64, 1};
    case at::kBFloat16:
      return Elements{dfcclBfloat16, 1};
    case at::kFloat8_e4m3fn:
      return Elements{dfcclFloat8e4m3, 1};
    case at::kFloat8_e5m2:
      return Elements{dfcclFloat8e5m2, 1};
    // As torch.distributed hands most of them on (torch.view_as_real).
    case at::kComplexHalf:
      return Elements{dfcclFloat16, 2};
    case at::kComplexFloat:
      return Elements{dfcclFloat32, 2};
    case at::kComplexDouble:
      return Elements{dfcclFloat64, 2};
    default:
      return std::nullopt;
  }
}

Elements movedElements(at::ScalarType type) {
  const std::optional<Elements> elements = addedElements(type);
  return elements ? *elements : Elements{dfcclUint8, c10::elementSize(type), distinctionOfType(type)};
}

}  // namespace dfccl_torch
