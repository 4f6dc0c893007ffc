#pragma once
// A world on GPUs as a program with CUDA of its own has it: the C API, and memory of cudaMalloc.
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "dfccl/dfccl.h"
#include "outcomes.hpp"

namespace dfccl::gpu::test {

#if defined(DFCCL_SIMULATED_GPU)
inline constexpr bool kIsSimulated = true;  // on a CPU
#else
inline constexpr bool kIsSimulated = false;
#endif

#define CHECK_OK(call)                      \
  do {                                      \
    const dfcclResult_t result = (call);    \
    INFO(#call, ": ", dfcclGetLastError()); \
    CHECK(result == dfcclSuccess);          \
  } while (false)

inline int deviceCount() {
  int count = 0;
  cudaGetDeviceCount(&count);
  return count;
}

/// Whether there is more than one GPU; else the test case counts as skipped.
inline bool hasTwoGpus() {
  if (deviceCount() >= 2) return true;
  skip("needs two GPUs");
  return false;
}

/// Ranks on all GPUs, at least two ranks, which share a GPU where there is one only; closed at the end.
class GpuRanks {
 public:
  explicit GpuRanks(uint32_t ranks = 0, int32_t workers = 1, uint32_t grid = 8, uint32_t collectives = 0,
                    size_t arenaBytes = 0, const int* ofDevices = nullptr) {
    const auto devices = static_cast<uint32_t>(deviceCount());
    dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
    config.ranks = ranks != 0 ? ranks : devices < 2 ? 2 : devices;
    config.backend = dfcclCuda;
    config.grid = grid;
    config.workers = workers;
    if (collectives != 0) config.collectives = collectives;
    if (arenaBytes != 0) config.arenaBytes = arenaBytes;
    config.devices = ofDevices;
    REQUIRE(dfcclWorldCreate(&config, &world_) == dfcclSuccess);
    contexts_.resize(config.ranks);
    for (uint32_t r = 0; r < config.ranks; ++r) {
      REQUIRE(dfcclInitRank(world_, static_cast<int>(r), &contexts_[r]) == dfcclSuccess);
    }
  }
  ~GpuRanks() {
    for (const dfcclRankCtx_t context : contexts_) CHECK_OK(dfcclDestroy(context));
    CHECK_OK(dfcclWorldDestroy(world_));
  }

  int size() const { return static_cast<int>(contexts_.size()); }
  dfcclRankCtx_t operator[](int rank) const { return contexts_[static_cast<size_t>(rank)]; }
  int device(int rank) const {
    int device = -1;
    CHECK_OK(dfcclGetDevice(&device, (*this)[rank]));
    return device;
  }
  dfcclResult_t waitAll() const { return dfcclWaitAll(contexts_.data(), size()); }

 private:
  dfcclWorld_t world_ = nullptr;
  std::vector<dfcclRankCtx_t> contexts_;
};

/// Elements on a device.
template <class T>
class DeviceArray {
 public:
  DeviceArray(int device, size_t count) : device_(device), count_(count) {
    cudaSetDevice(device);
    REQUIRE(cudaMalloc(reinterpret_cast<void**>(&data_), (count == 0 ? 1 : count) * sizeof(T)) == cudaSuccess);
  }
  ~DeviceArray() {
    cudaSetDevice(device_);
    cudaFree(data_);
  }
  DeviceArray(DeviceArray&& other) noexcept : device_(other.device_), count_(other.count_), data_(other.data_) {
    other.data_ = nullptr;
  }
  DeviceArray& operator=(DeviceArray&&) = delete;

  T* data() const { return data_; }
  void set(const std::vector<T>& values) const {
    cudaSetDevice(device_);
    REQUIRE(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
    // Whatever runs next reads it through another stream.
    REQUIRE(cudaStreamSynchronize(nullptr) == cudaSuccess);
  }
  std::vector<T> get() const {
    std::vector<T> values(count_);
    cudaSetDevice(device_);
    REQUIRE(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
    return values;
  }

 private:
  int device_;
  size_t count_;
  T* data_ = nullptr;
};

inline double microsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace dfccl::gpu::test
