// reduceCopy() and the choice of its kernels. The house, from the door down:
//
//   dispatch.cpp   takes the best family that this CPU runs, once
//   execute.cpp    copies, or reduces with the family's kernel, directly or by way of a small buffer
//   strategy.cpp   which of these, by the number of operands and their size
//   result_stores  how a collective stores its results, by when their buffers were last written
//   kernels_*.cpp  one family each: the same kernels.hpp and vector_lanes.hpp, compiled for one set of instructions
//   own_operator   several sources by a function of the caller's own
//   reference.cpp  what every kernel must equal, bit for bit
//
// A kernel folds its sources in order, a few vectors at a time, and rounds or divides once at the end, exactly as the
// reference does for one element: nothing is reassociated, and no multiplication and addition are contracted.
#include <vector>

#include "execute.hpp"
#include "families.hpp"
#include "own_operator.hpp"

namespace dfccl {
namespace reduce_copy {
namespace {

const KernelFamily& bestFamily() {
  static const KernelFamily& family = *availableFamilies().front();
  return family;
}

}  // namespace

std::span<const KernelFamily* const> availableFamilies() {
  static const std::vector<const KernelFamily*> available = [] {
    std::vector<const KernelFamily*> found;
#if defined(__x86_64__)
    for (const KernelFamily* family : {&kAvx512Family, &kAvx2Family}) {
      if (family->isSupported()) found.push_back(family);
    }
#endif
    found.push_back(&kBaselineFamily);
    return found;
  }();
  return available;
}

}  // namespace reduce_copy

void reduceCopy(DataType type, ReduceOp op, const ReduceCopyArgs& args, Stores stores) {
  if (isOwn(op) && args.sourceCount != 1) [[unlikely]] {
    if (const OwnOperator* const own = findOwnOperator(op)) return reduce_copy::reduceByOwn(*own, type, args);
    // Another rank's, which this process hasn't made: the registrations differ, so nobody takes this for a result.
    ReduceCopyArgs first = args;
    first.sourceCount = 1;
    return reduce_copy::executeWith(reduce_copy::bestFamily(), type, ReduceOp::sum, first, stores);
  }
  reduce_copy::executeWith(reduce_copy::bestFamily(), type, op, args, stores);
}

void orderStores() {
  const reduce_copy::KernelFamily& family = reduce_copy::bestFamily();
  if (family.stream != nullptr) family.streamFence();
}

const char* reduceCopyKernelName() { return reduce_copy::bestFamily().name; }

}  // namespace dfccl
