#pragma once
// Memory that processes of one machine share through CUDA's own means: handles of whole allocations.
#include "processes/own_windows.hpp"
#include "processes/peer_windows.hpp"

namespace dfccl::gpu {

/// Of allocations on `device`.
ExportingDriver ipcExporter(int device);
/// Maps others' allocations for `device`. May take as long as a daemon's stay. @param setBases see ImportingDriver.
/// @param tryUnmapping unmaps now; or does nothing, and returns false, where that might keep others waiting.
ImportingDriver ipcImporter(
    int device, std::function<void(uint32_t owner, uint16_t window, const std::vector<uint64_t>& bases)> setBases,
    std::function<bool(const std::function<void()>& unmap)> tryUnmapping);

}  // namespace dfccl::gpu
