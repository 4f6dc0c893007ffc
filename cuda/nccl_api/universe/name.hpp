#pragma once
// What communicators are known by among their ranks: 128 bits that come of the unique id.
#include <cstdint>
#include <string>

#include "nccl_api/universe/abi.hpp"

namespace dfccl::nccl {

struct Name {
  uint64_t high = 0, low = 0;

  /// The name of what comes of this one, the same on all ranks that give the same numbers.
  Name derived(uint64_t first, uint64_t second = 0) const;
  /// 32 hexadecimal digits.
  std::string text() const;

  bool operator==(const Name&) const = default;
};

/// An id that nobody has had before. @throws Failure ncclSystemError
ncclUniqueId makeUniqueId();
/// The id from which every process takes this name.
ncclUniqueId uniqueIdOf(const Name& name);
/// Whether this library has made it, here or elsewhere.
bool isOurs(const ncclUniqueId& id);
/// @throws Failure ncclInvalidArgument: this library hasn't made it, or not on this machine, or where there is another
/// /dev/shm.
Name nameOf(const ncclUniqueId& id);

}  // namespace dfccl::nccl
