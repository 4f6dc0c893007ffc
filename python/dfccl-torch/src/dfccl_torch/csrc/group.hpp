#pragma once
#include <dfccl/dfccl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "world.hpp"

namespace dfccl_torch {

/// This rank's membership in a group of a world's ranks; what is in flight in it keeps it.
class Group {
 public:
  /// Waits for nobody.
  /// @param name tells groups of the same ranks apart, and is the same on all of them.
  Group(std::shared_ptr<World> world, const std::vector<int>& worldRanks, const std::string& name);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  dfcclGroup_t handle() const { return handle_; }
  const std::string& name() const { return name_; }
  /// A collective comes to no result any more when a member's process is gone, or has left; and where a stream waits for
  /// it, the stream is let go and nobody is told. @throws DistBackendError if this rank has seen one gone.
  /// @param what the collective.
  void expectAllThere(const char* what) const;

 private:
  std::shared_ptr<World> world_;
  std::vector<int> worldRanks_;
  std::string name_;
  dfcclGroup_t handle_ = nullptr;
  pid_t process_;
};

}  // namespace dfccl_torch
