#pragma once
// Operators that ncclRedOpCreatePreMulSum has made for a communicator: sums of what each rank multiplies by a scalar of
// its own first.
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <vector>

#include "nccl_api/universe/abi.hpp"

namespace dfccl::nccl {

/// A value of the operator's type, or where the device finds it when a run comes to it.
struct Scalar {
  ncclDataType_t type;
  uint64_t bits = 0;               // of the value, the lowest first
  const void* onDevice = nullptr;  // instead of it
};

class ScaledSums {
 public:
  ncclRedOp_t add(const Scalar& scalar);
  /// @return false: there is none of that number.
  bool remove(ncclRedOp_t op);
  std::optional<Scalar> find(ncclRedOp_t op) const;

 private:
  static constexpr int kFirst = 5;  // those below are NCCL's own

  mutable std::mutex mutex_;
  std::vector<std::optional<Scalar>> all_;
};

}  // namespace dfccl::nccl
