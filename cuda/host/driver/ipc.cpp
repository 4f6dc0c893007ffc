#include "host/driver/ipc.hpp"

#include <cstring>
#include <string>

#include "host/driver/check.hpp"
#include "host/driver/pointer_attributes.hpp"

namespace dfccl::gpu {
namespace {

static_assert(sizeof(cudaIpcMemHandle_t) <= WindowNote::kHandleBytes);

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

ExportingDriver ipcExporter(int device) {
  return {
      .memoryAt =
          [device](uint64_t address) {
            const OnDevice here(device);
            const MemoryRange range = rangeOf(pointer(address));
            return OwnMemory{range.first, range.bytes, identityOf(pointer(address))};
          },
      .identityAt =
          [device](uint64_t address) {
            const OnDevice here(device);
            return identityOf(pointer(address));
          },
      .exportMemory =
          [device](const OwnMemory& memory, uint8_t(&handle)[WindowNote::kHandleBytes]) {
            const OnDevice here(device);
            cudaIpcMemHandle_t made{};
            const cudaError_t error = cudaIpcGetMemHandle(&made, pointer(memory.first));
            if (error != cudaSuccess) {
              cudaGetLastError();
              throw Error(
                  dfcclInvalidArgument,
                  "A buffer lies in memory that other processes can't map (cudaIpcGetMemHandle: " +
                      std::string(cudaGetErrorString(error)) + ").",
                  "Allocate it with cudaMalloc or dfcclAllocate, not from a pool (cudaMallocAsync) or as virtual "
                  "memory (in PyTorch: expandable_segments:False), or register a program that moves everything "
                  "through connectors.",
                  {{"device", std::to_string(device)},
                   {"bytes", std::to_string(memory.bytes)},
                   {"cuda", cudaGetErrorName(error)}});
            }
            std::memcpy(handle, &made, sizeof made);
          },
  };
}

ImportingDriver ipcImporter(
    int device, std::function<void(uint32_t owner, uint16_t window, const std::vector<uint64_t>& bases)> setBases,
    std::function<bool(const std::function<void()>& unmap)> tryUnmapping) {
  return {
      .map = [device](uint32_t owner, const WindowNote& note) -> std::optional<uint64_t> {
        const OnDevice here(device);
        cudaIpcMemHandle_t handle{};
        std::memcpy(&handle, note.handle, sizeof handle);
        void* seenAt = nullptr;
        const cudaError_t error = cudaIpcOpenMemHandle(&seenAt, handle, cudaIpcMemLazyEnablePeerAccess);
        if (error == cudaErrorAlreadyMapped) {
          cudaGetLastError();
          return std::nullopt;
        }
        if (error != cudaSuccess) {
          cudaGetLastError();
          throw Error(dfcclSystemError,
                      "Device " + std::to_string(device) + " can't map memory of rank " + std::to_string(owner) +
                          " (cudaIpcOpenMemHandle: " + cudaGetErrorString(error) + ").",
                      "Run `dfccl doctor`: it says whether the devices reach each other. In containers, share the "
                      "host's IPC and PID namespaces.",
                      {{"rank", std::to_string(owner)}, {"cuda", cudaGetErrorName(error)}});
        }
        return reinterpret_cast<uint64_t>(seenAt);
      },
      .unmap =
          [device, tryUnmapping = std::move(tryUnmapping)](uint32_t, uint64_t seenAt, bool isEnd) {
            const auto close = [&] {
              const OnDevice here(device);
              if (cudaIpcCloseMemHandle(pointer(seenAt)) != cudaSuccess)
                cudaGetLastError();  // nothing to be done about it
            };
            if (!isEnd) return tryUnmapping(close);
            close();
            return true;
          },
      .setBases = std::move(setBases),
  };
}

}  // namespace dfccl::gpu
