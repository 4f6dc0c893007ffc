#pragma once
#include <dfccl/dfccl.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dfccl_torch {

/// This process's rank in a dfccl world, for as long as a group of it is there.
class Universe {
 public:
  /// Waits until all ranks have come.
  /// @param job the same name in all its processes, and in no other job's.
  Universe(const std::string& job, int rank, int ranks, std::chrono::milliseconds timeout);
  ~Universe();
  Universe(const Universe&) = delete;
  Universe& operator=(const Universe&) = delete;

  dfcclRankCtx_t ctx() const { return ctx_; }
  /// What this rank does and waits for, in words.
  std::string describe() const;

 private:
  dfcclWorld_t world_ = nullptr;
  dfcclRankCtx_t ctx_ = nullptr;
  pid_t process_;
};

/// The world of all ranks, which the groups of a program share; null before the first of them, and after the last.
std::shared_ptr<Universe> sharedUniverse();
void shareUniverse(const std::shared_ptr<Universe>& universe);
/// Of every world that this process is in.
std::string describeUniverses();

}  // namespace dfccl_torch
