// Operators of the caller's own.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/own_operators.hpp"
#include "base/placed_values.hpp"
#include "c_api/last_error.hpp"

using namespace dfccl;
using namespace dfccl::c_api;

namespace {

constexpr size_t kMostExamples = 64;
static_assert(kOwnOps == DFCCL_MOST_OPERATORS);

[[noreturn]] void refuseOperator(const std::string& facts, const std::string& remedy, const char* field,
                                 const std::string& value) {
  throw Error(dfcclInvalidArgument, facts, remedy, {{"field", field}, {"value", value}});
}

/// Of elements of one type.
class Examples {
 public:
  Examples(const OwnOperator& own, dfcclDataType_t type, const void* elements)
      : own_(own), type_(type), bytes_(sizeOf(static_cast<DataType>(type))), elements_(elements) {}

  void checkPair(size_t a, size_t b) const {
    if (areAlike(combined(at(a), at(b)), combined(at(b), at(a)))) return;
    refuseFor("is not commutative: a op b is not b op a", {a, b});
  }
  void checkTriple(size_t a, size_t b, size_t c) const {
    if (areAlike(combined(combined(at(a), at(b)), at(c)), combined(at(a), combined(at(b), at(c))))) return;
    refuseFor("is not associative: (a op b) op c is not a op (b op c)", {a, b, c});
  }

 private:
  struct Element {
    alignas(8) char bytes[8] = {};
  };

  bool areAlike(const Element& one, const Element& other) const {
    if (std::memcmp(one.bytes, other.bytes, sizeof one.bytes) == 0) return true;
    if (type_ == dfcclFloat32) return areClose<float>(one, other, 1e-5F);
    return type_ == dfcclFloat64 && areClose<double>(one, other, 1e-13);
  }
  template <class T>
  static bool areClose(const Element& one, const Element& other, T most) {
    T a, b;
    std::memcpy(&a, one.bytes, sizeof a);
    std::memcpy(&b, other.bytes, sizeof b);
    return std::abs(a - b) <= most * std::max(std::abs(a), std::abs(b));
  }

  Element at(size_t index) const {
    Element one;
    std::memcpy(one.bytes, static_cast<const char*>(elements_) + index * bytes_, bytes_);
    return one;
  }
  Element combined(Element a, const Element& b) const {
    own_.function(a.bytes, b.bytes, 1, type_, own_.user);
    return a;
  }
  [[noreturn]] void refuseFor(const std::string& what, const std::vector<size_t>& places) const {
    std::string list;
    for (const size_t place : places) list += (list.empty() ? "" : ", ") + std::to_string(place);
    refuseOperator("The operator " + what + ", for examples " + list + ".",
                   "Mend the function: ranks are combined in the order and the groupings that are fastest.", "examples",
                   list);
  }

  const OwnOperator& own_;
  const dfcclDataType_t type_;
  const size_t bytes_;
  const void* const elements_;
};

void create(int number, const OwnOperator& made, dfcclRedOp_t* op) {
  if (number < 0 || number >= kOwnOps) {
    refuseOperator("The operator's number is " + std::to_string(number) + ".",
                   "Allowed: 0 to " + std::to_string(kOwnOps - 1) + ".", "number", std::to_string(number));
  }
  if (op == nullptr) refuseOperator("There is nowhere to put the operator.", "Pass a dfcclRedOp_t.", "op", "null");
  if (!makeOwnOperator(number, made)) {
    throw Error(dfcclInUse, "Operator " + std::to_string(number) + " is another function, or has other user data.",
                "Take another number, on all ranks: an operator lasts as long as its process.",
                {{"number", std::to_string(number)}});
  }
  *op = static_cast<dfcclRedOp_t>(ownOp(number));
}

}  // namespace

extern "C" {

dfcclResult_t dfcclRedOpCreate(int number, dfcclReduceFunction_t function, void* user, dfcclRedOp_t* op) {
  return guarded([&] {
    if (function == nullptr)
      refuseOperator("The function is null.", "Pass one that combines two vectors.", "function", "null");
    create(number, {function, user}, op);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclRedOpCreatePlaced(int number, dfcclPlacedOp_t which, dfcclRedOp_t* op) {
  return guarded([&] {
    const dfcclReduceFunction_t function = functionOf(which);
    if (function == nullptr) {
      const std::string value = std::to_string(static_cast<int>(which));
      refuseOperator("There is no operator " + value + " of values with their places.", "Allowed: 0 to 3.", "which",
                     value);
    }
    create(number, {function, nullptr, sizeof(dfcclPlacedFloat_t)}, op);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclRedOpCheck(dfcclRedOp_t op, dfcclDataType_t type, const void* examples, size_t count) {
  return guarded([&] {
    const auto number = static_cast<int64_t>(op);
    const OwnOperator* const own = isOwnCode(number) ? findOwnOperator(static_cast<ReduceOp>(op)) : nullptr;
    if (own == nullptr) {
      refuseOperator("The op is " + std::to_string(number) + ", which dfcclRedOpCreate hasn't made in this process.",
                     "Pass what it has given.", "op", std::to_string(number));
    }
    if (static_cast<uint32_t>(type) >= static_cast<uint32_t>(kDataTypeCount)) {
      const std::string value = std::to_string(static_cast<int>(type));
      refuseOperator("The type is " + value + ".", "Allowed: 0 to " + std::to_string(kDataTypeCount - 1) + ".", "type",
                     value);
    }
    if (!takes(static_cast<ReduceOp>(op), static_cast<DataType>(type))) {
      refuseOperator("The type is " + std::string(nameOf(static_cast<DataType>(type))) + ".",
                     "Take one of 8 bytes for values with their places, such as dfcclUint64.", "type",
                     std::to_string(static_cast<int>(type)));
    }
    if (count == 0 || count > kMostExamples) {
      refuseOperator("There are " + std::to_string(count) + " examples.",
                     "Allowed: 1 to " + std::to_string(kMostExamples) + ".", "count", std::to_string(count));
    }
    if (examples == nullptr) refuseOperator("The examples are null.", "Pass count elements.", "examples", "null");
    const Examples all(*own, type, examples);
    for (size_t a = 0; a < count; ++a) {
      for (size_t b = 0; b < a; ++b) all.checkPair(b, a);
    }
    for (size_t a = 0; a < count; ++a) {
      for (size_t b = 0; b < count; ++b) {
        for (size_t c = 0; c < count; ++c) all.checkTriple(a, b, c);
      }
    }
    return dfcclSuccess;
  });
}

}  // extern "C"
