#include "reduction.hpp"

#include <string>

#include "error.hpp"
#include "hash.hpp"

namespace dfccl_torch {
namespace {

using c10d::ReduceOp;

const char* nameOf(ReduceOp::RedOpType op) {
  switch (op) {
    case ReduceOp::SUM:
      return "SUM";
    case ReduceOp::AVG:
      return "AVG";
    case ReduceOp::PRODUCT:
      return "PRODUCT";
    case ReduceOp::MIN:
      return "MIN";
    case ReduceOp::MAX:
      return "MAX";
    case ReduceOp::BAND:
      return "BAND";
    case ReduceOp::BOR:
      return "BOR";
    case ReduceOp::BXOR:
      return "BXOR";
    case ReduceOp::PREMUL_SUM:
      return "PREMUL_SUM";
    default:
      return "an unknown operator";
  }
}

[[noreturn]] void refuseOperator(ReduceOp::RedOpType op, at::ScalarType type, const char* remedy) {
  refuse(std::string(nameOf(op)) + " isn't defined for " + c10::toString(type) + ".", remedy);
}

/// As bits: what overflows a bool is still true.
dfcclRedOp_t ofBools(ReduceOp::RedOpType op) {
  switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::MAX:
    case ReduceOp::BOR:
      return dfcclMax;
    case ReduceOp::PRODUCT:
    case ReduceOp::MIN:
    case ReduceOp::BAND:
      return dfcclMin;
    case ReduceOp::BXOR:
      return dfcclBitXor;
    default:
      refuseOperator(op, at::kBool, "Convert the tensor to a number first.");
  }
}

dfcclRedOp_t ofBits(dfcclRedOp_t ours, ReduceOp::RedOpType op, at::ScalarType type) {
  if (!at::isIntegralType(type, false)) refuseOperator(op, type, "Take an integer type.");
  return ours;
}

dfcclRedOp_t ofNumbers(ReduceOp::RedOpType op, at::ScalarType type) {
  switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::PREMUL_SUM:
      return dfcclSum;
    case ReduceOp::AVG:
      return dfcclAvg;
    case ReduceOp::PRODUCT:
      return dfcclProd;
    case ReduceOp::MIN:
      return dfcclMin;
    case ReduceOp::MAX:
      return dfcclMax;
    case ReduceOp::BAND:
      return ofBits(dfcclBitAnd, op, type);
    case ReduceOp::BOR:
      return ofBits(dfcclBitOr, op, type);
    case ReduceOp::BXOR:
      return ofBits(dfcclBitXor, op, type);
    default:
      refuseOperator(op, type, "Take one of torch.distributed.ReduceOp.");
  }
}

bool isOfBits(ReduceOp::RedOpType op) { return op == ReduceOp::BAND || op == ReduceOp::BOR || op == ReduceOp::BXOR; }

bool isOfComplexParts(ReduceOp::RedOpType op) {
  return op == ReduceOp::SUM || op == ReduceOp::AVG || op == ReduceOp::PREMUL_SUM;
}

/// In which torch computes on a CPU what it has no operators for itself.
at::ScalarType widened(at::ScalarType type) {
  if (type == at::kUInt16) return at::kLong;
  return at::isFloat8Type(type) ? at::kFloat : type;
}

at::Tensor fold(const at::Tensor& a, const at::Tensor& b, ReduceOp::RedOpType op) {
  switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::PREMUL_SUM:
      return at::add(a, b);
    case ReduceOp::PRODUCT:
      return at::mul(a, b);
    case ReduceOp::MIN:
      return at::minimum(a, b);
    case ReduceOp::MAX:
      return at::maximum(a, b);
    default:
      refuseOperator(op, a.scalar_type(), "Convert the tensor to int32 or float32 first.");
  }
}

uint64_t withOperator(uint64_t distinctionOfType, ReduceOp::RedOpType op) {
  return mixed(distinctionOfType, mixed(hashOf("operator"), static_cast<uint64_t>(op) + 1));
}

/// What ours is of, where it isn't the caller's operator alone: of several ours is the same, or none.
uint64_t distinctionOfOperator(const Reduction& reduction, ReduceOp::RedOpType op, at::ScalarType type) {
  const bool isTold = reduction.op && type != at::kBool && op != ReduceOp::PREMUL_SUM;
  const uint64_t ofType = reduction.elements.distinction;
  return isTold ? ofType : withOperator(ofType, op);
}

Reduction inElements(ReduceOp::RedOpType kind, at::ScalarType type) {
  if (kind == ReduceOp::PREMUL_SUM && !at::isFloatingType(type) && !at::isComplexType(type)) {
    refuseOperator(kind, type, "Convert the tensor to float32 first: its products with the factor are no integers.");
  }
  if (at::isComplexType(type) && !isOfComplexParts(kind)) {
    refuseOperator(kind, type, "Of complex tensors there are SUM, AVG and PREMUL_SUM.");
  }
  const std::optional<Elements> elements = addedElements(type);
  if (!elements) {
    if (kind == ReduceOp::AVG) refuseOperator(kind, type, "Convert the tensor to float32 first.");
    if (isOfBits(kind)) return {ofNumbers(kind, type), movedElements(type)};  // of bytes as well
    return {std::nullopt, movedElements(type)};
  }
  return {type == at::kBool ? ofBools(kind) : ofNumbers(kind, type), *elements};
}

}  // namespace

Reduction reductionOf(const ReduceOp& op, at::ScalarType type) {
  Reduction reduction = inElements(op, type);
  reduction.distinction = distinctionOfOperator(reduction, op, type);
  return reduction;
}

std::string wordsOfDistinction(uint64_t distinction) {
  const auto find = [&](uint64_t ofType, const std::string& type) -> std::string {
    if (ofType == distinction) return type;
    for (int op = ReduceOp::SUM; op < ReduceOp::UNUSED; ++op) {
      const auto kind = static_cast<ReduceOp::RedOpType>(op);
      if (withOperator(ofType, kind) == distinction) return type + (type.empty() ? "" : ", ") + nameOf(kind);
    }
    return "";
  };
  std::string words = find(0, "");
  for (int i = 0; i < static_cast<int>(at::ScalarType::NumOptions) && words.empty(); ++i) {
    const auto type = static_cast<at::ScalarType>(i);
    words = find(distinctionOfType(type), c10::toString(type));
  }
  return words;
}

at::Tensor contribution(const at::Tensor& input, const ReduceOp& op) {
  if (op != ReduceOp::PREMUL_SUM) return input;
  const auto* factor = dynamic_cast<const c10d::NCCLPreMulSumSupplement*>(op.supplement_.get());
  if (factor == nullptr) refuse("PREMUL_SUM has no factor.", "Make the operator with _make_nccl_premul_sum.");
  return factor->tensor_factor.defined() ? at::mul(input, factor->tensor_factor.to(input.scalar_type()))
                                         : at::mul(input, factor->double_factor);
}

at::Tensor folded(const at::Tensor& rows, const ReduceOp& op) {
  const at::ScalarType wide = widened(rows.scalar_type());
  at::Tensor result = rows[0].to(wide);
  for (int64_t i = 1; i < rows.size(0); ++i) result = fold(result, rows[i].to(wide), op);
  return result.to(rows.scalar_type());
}

}  // namespace dfccl_torch
