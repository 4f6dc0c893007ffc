#pragma once
// Operators of the caller's own: functions of this process's, under numbers that all ranks know them by.
#include <cstddef>
#include <cstdint>

#include "base/types.hpp"
#include "dfccl/dfccl.h"

namespace dfccl {

struct OwnOperator {
  dfcclReduceFunction_t function;
  void* user;
  size_t elementBytes = 0;  // of the types that it takes; 0: it takes any
};

constexpr ReduceOp ownOp(int number) { return static_cast<ReduceOp>(kFirstOwnOp + number); }
/// Of what a caller says, which may be no operator at all.
constexpr bool isOwnCode(int64_t code) { return code >= kFirstOwnOp && code < kFirstOwnOp + kOwnOps; }

/// For as long as the process lives: what is registered may use it at any time. Any thread.
/// @return false: another one has that number. @pre 0 <= number < kOwnOps
bool makeOwnOperator(int number, const OwnOperator& made);
/// Null: this process hasn't made it, or it is none of the caller's.
const OwnOperator* findOwnOperator(ReduceOp op);
/// Whether collectives of this process may have it: one of the library's, or one that was made.
bool isKnown(ReduceOp op);
/// Whether it takes elements of that size. @pre isKnown(op)
bool takes(ReduceOp op, DataType type);

}  // namespace dfccl
