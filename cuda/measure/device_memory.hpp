#pragma once
// The ranks' buffers on their GPUs. Data is made and compared there.
#include <vector>

#include "host/driver/check.hpp"
#include "perf/memory.hpp"

namespace dfccl::gpu::measure {

class DeviceMemory final : public bench::Memory {
 public:
  /// @param devices of this process's ranks. @param firstRank of those. @throws Error
  DeviceMemory(const std::vector<int>& devices, uint32_t firstRank);
  ~DeviceMemory() override;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  char* allocate(uint32_t rank, size_t bytes) override;
  void free(uint32_t rank, char* memory) override;
  void clear(uint32_t rank, void* at, size_t bytes) override;
  void read(uint32_t rank, void* to, const void* from, size_t bytes) override;
  void write(uint32_t rank, void* to, const void* from, size_t bytes) override;
  void fill(uint32_t rank, void* out, uint64_t count, const bench::ExactData& data) override;
  uint64_t countWrong(const std::vector<bench::Received>& results, const bench::Case& shape,
                      const bench::ExactData& data) override;

 private:
  /// One rank's.
  struct RankDevice {
    int device;
    cudaStream_t stream;  // waits for no daemon, and no daemon for it
    unsigned long long* wrong;
  };
  const RankDevice& of(uint32_t rank) const { return places_[rank - firstRank_]; }

  const uint32_t firstRank_;
  std::vector<RankDevice> places_;
};

}  // namespace dfccl::gpu::measure
