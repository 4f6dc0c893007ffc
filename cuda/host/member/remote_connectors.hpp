#pragma once
// A member's connectors to members on other machines. They lie in host memory, whole, where this process's proxy plays
// the other end: the daemon on the GPU stores and polls there as it would in a peer's memory, and nobody calls CUDA.
#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/state/bound_program.hpp"
#include "daemon/state/connector.hpp"
#include "host/driver/pinned_arena.hpp"

namespace dfccl::gpu {

class RemoteConnectors {
 public:
  /// @param isElsewhere [member]: whether it is on another machine
  RemoteConnectors(std::shared_ptr<PinnedArena> arena, std::vector<bool> isElsewhere)
      : arena_(std::move(arena)), isElsewhere_(std::move(isElsewhere)) {}
  ~RemoteConnectors();
  RemoteConnectors(const RemoteConnectors&) = delete;
  RemoteConnectors& operator=(const RemoteConnectors&) = delete;

  /// Takes memory for each of the program's connections that leads to another machine. @throws Error dfcclOutOfMemory
  void take(const BoundProgram& program, uint32_t slotBytes);
  bool isElsewhere(uint32_t member) const { return isElsewhere_[member]; }
  /// [connection], of the program; those within the machine are empty.
  const std::vector<Connector>& all() const { return connectors_; }
  size_t bytes() const;

 private:
  const std::shared_ptr<PinnedArena> arena_;
  const std::vector<bool> isElsewhere_;
  std::vector<Connector> connectors_;
};

}  // namespace dfccl::gpu
