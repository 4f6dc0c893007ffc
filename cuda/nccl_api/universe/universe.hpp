#pragma once
// A world of dfccl's, in which communicators are groups. Each world has a daemon and memory on each of its devices, so
// what can be a group of one that is there becomes one; and a world without communicators is kept for the next ones,
// because to free its memory CUDA may wait until all that is on the device is over.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dfccl/dfccl.h"
#include "nccl_api/universe/arrivals.hpp"
#include "nccl_api/universe/scratch.hpp"

namespace dfccl::nccl {

class Universe {
 public:
  /// Of ranks that are all in this process. @param devices of each. @throws Failure
  static std::shared_ptr<Universe> inProcess(uint64_t id, const std::vector<int>& devices, uint32_t blocks);
  /// Of ranks that are processes. Waits for the others. @throws Failure
  static std::shared_ptr<Universe> ofProcesses(uint64_t id, int ranks, int rank, int device, uint32_t blocks);
  ~Universe();
  Universe(const Universe&) = delete;
  Universe& operator=(const Universe&) = delete;

  uint64_t id() const { return id_; }
  /// This process's rank, where each is a process; else -1.
  int ownRank() const { return ownRank_; }
  int size() const { return static_cast<int>(contexts_.size()); }
  /// Of each rank, where all are in this process; else of its own.
  const std::vector<int>& devices() const { return devices_; }
  /// @pre it is in this process.
  dfcclRankCtx_t context(int rank) const { return contexts_[static_cast<size_t>(rank)]; }
  /// Whether another of its processes has ended or left, so that no communicator of all can be made any more.
  bool isAnyoneGone() const;
  Scratch& scratch() { return scratch_; }

 private:
  Universe(uint64_t id, int ranks, int ownRank) : id_(id), ownRank_(ownRank), contexts_(static_cast<size_t>(ranks)) {}

  const uint64_t id_;
  const int ownRank_;
  dfcclWorld_t world_ = nullptr;
  std::vector<int> devices_;
  Scratch scratch_;
  std::vector<dfcclRankCtx_t> contexts_;  // [rank]; null: another process's
};

}  // namespace dfccl::nccl
