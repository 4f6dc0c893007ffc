#pragma once
#include <ATen/ATen.h>
#include <dfccl/dfccl.h>

#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include "elements.hpp"

namespace dfccl_torch {

/// How dfccl computes a reduction of torch.distributed.
struct Reduction {
  /// nullopt: it can't. Ranks are given all inputs, and each folds them itself: as exact, but as many times the bytes
  /// as there are ranks.
  std::optional<dfcclRedOp_t> op;
  Elements elements;
  /// As Elements::distinction, of the operator as well: matched are only operations of one type and operator. The
  /// factor of PREMUL_SUM is each rank's own.
  uint64_t distinction = 0;
};

/// @throws DistBackendError where the operator isn't defined for the type.
Reduction reductionOf(const c10d::ReduceOp& op, at::ScalarType type);
/// What a distinction of these, or of movedElements(), tells: "Short, SUM".
std::string wordsOfDistinction(uint64_t distinction);
/// What a rank gives: its input, times the factor of PREMUL_SUM.
at::Tensor contribution(const at::Tensor& input, const c10d::ReduceOp& op);
/// The rows of a tensor, folded in their order, which is the same on every rank.
at::Tensor folded(const at::Tensor& rows, const c10d::ReduceOp& op);

}  // namespace dfccl_torch
