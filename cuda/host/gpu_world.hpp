#pragma once
// All ranks of one process on its GPUs: one rank a device, or several where there are more ranks than devices.
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "host/gpu_group.hpp"
#include "host/gpu_rank.hpp"
#include "program/program_loader.hpp"

namespace dfccl::gpu {

struct GpuWorldOptions {
  std::vector<int> devices;  // of each rank
  GpuRankOptions rank;
  // Longer slices than on a CPU: a block moves tens of gigabytes a second, and a slice costs it a microsecond of
  // thought.
  TileSizes tiles{32 << 10, 1 << 20};
};

/// The policy that a GPU world has unless it is told otherwise. Times in nanoseconds.
scheduling::SchedulePolicy defaultGpuPolicy();

/// Blocks that the built-in program of a collective uses for so many bytes on a rank.
uint32_t lanesFor(Collective collective, size_t bytes, uint32_t ranks, uint32_t grid);

class GpuWorld {
 public:
  /// @throws Error
  explicit GpuWorld(const GpuWorldOptions& options);
  GpuWorld(const GpuWorld&) = delete;
  GpuWorld& operator=(const GpuWorld&) = delete;

  uint32_t size() const { return static_cast<uint32_t>(ranks_.size()); }
  GpuRank& rank(uint32_t number) { return *ranks_[number]; }

  /// Registers a collective on one rank; never waits for the others, nor for a daemon. @return the index that
  /// submissions name. @param lanes blocks of the built-in program, the same on every rank; 0: chosen by size. @throws
  /// Error
  uint32_t registerCollective(uint32_t rank, const CollectiveSpec& spec, uint32_t lanes = 0);

 private:
  const BoundProgram* upload(uint32_t rank, const BoundProgram& program);
  std::shared_ptr<GpuGroup> groupFor(const CollectiveSpec& spec, uint32_t member, uint64_t digest);

  GpuWorldOptions options_;
  std::vector<std::unique_ptr<GpuRank>> ranks_;
  std::vector<uint32_t> nextIndex_;      // [rank]
  std::vector<uint32_t> tasksPerBlock_;  // [rank]: at most, in one block's queue
  std::unordered_multimap<uint32_t, std::shared_ptr<GpuGroup>> groups_;
  std::mutex mutex_;
};

}  // namespace dfccl::gpu
