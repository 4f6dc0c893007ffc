#pragma once
#include <cstdint>

namespace dfccl::nccl::test {

/// How often streams of this process have scaled something so far.
uint32_t scalings();

}  // namespace dfccl::nccl::test
