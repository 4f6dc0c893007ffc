#pragma once
#include <ATen/ATen.h>
#include <dfccl/dfccl.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace dfccl_torch {

/// How dfccl counts what a tensor holds: `width` elements of `type` for each of the tensor's.
struct Elements {
  dfcclDataType_t type;
  size_t width;
  /// What the tag has to tell besides, where other types of torch's go as the same elements: matched are only
  /// operations of one type. 0: nothing.
  uint64_t distinction = 0;

  size_t countOf(const at::Tensor& tensor) const { return static_cast<size_t>(tensor.numel()) * width; }
};

/// What a rank hasn't got, because another is the root, is no memory.
inline void* memoryOf(const at::Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }

/// Of a type that goes as elements of another one.
uint64_t distinctionOfType(at::ScalarType type);
/// For data that is moved as it is: a type that dfccl lacks goes as bytes.
Elements movedElements(at::ScalarType type);
/// For data that is added; nullopt: dfccl lacks the type.
std::optional<Elements> addedElements(at::ScalarType type);

}  // namespace dfccl_torch
