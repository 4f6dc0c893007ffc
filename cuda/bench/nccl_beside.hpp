#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bench/harness.hpp"
#include "nccl/nccl.hpp"

namespace dfccl::gpu::bench {

/// NCCL on the ranks' devices, of the library that --nccl names. @return null: none is named.
inline std::unique_ptr<Nccl> ncclBeside(const Bed& bed, const Arguments& arguments) {
  const std::string library = arguments.text("--nccl", "");
  if (library.empty()) return nullptr;
  std::vector<int> devices;
  for (uint32_t r = 0; r < bed.ranks(); ++r) devices.push_back(bed.device(r));
  return std::make_unique<Nccl>(library, devices);
}

}  // namespace dfccl::gpu::bench
