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

 private:
  std::shared_ptr<World> world_;
  std::string name_;
  dfcclGroup_t handle_ = nullptr;
  pid_t process_;
};

}  // namespace dfccl_torch
