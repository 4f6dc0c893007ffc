#pragma once
#include <cstdint>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

namespace dfccl_torch {

/// What ranks whose time is up have issued at a place of their group (DFCCL_MATCH=position): each tells the others
/// through the store, where a place has another operation on each of them. Any thread.
class Positions {
 public:
  /// @param prefix of keys that are this group's alone. @param ranks its members, of the world.
  Positions(c10::intrusive_ptr<c10d::Store> store, std::string prefix, std::vector<int> ranks);

  /// Tells what `rank` has at the place. @return what others have told that is something else, in words; "": nothing.
  std::string compare(uint64_t position, int rank, const std::string& operation) const;

 private:
  std::string key(uint64_t position, int rank) const;

  const c10::intrusive_ptr<c10d::Store> store_;
  const std::string prefix_;
  const std::vector<int> ranks_;
};

}  // namespace dfccl_torch
