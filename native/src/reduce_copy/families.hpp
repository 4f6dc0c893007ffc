#pragma once
// The kernel families that this build holds.
#include "kernel_family.hpp"

namespace dfccl::reduce_copy {

extern const KernelFamily kBaselineFamily;
#if defined(__x86_64__)
extern const KernelFamily kAvx2Family;
extern const KernelFamily kAvx512Family;
#endif

}  // namespace dfccl::reduce_copy
