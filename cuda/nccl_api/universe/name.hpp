#pragma once
// What communicators are known by among their ranks: 128 bits that come of the unique id.
#include <array>
#include <cstdint>
#include <optional>
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

/// Where the process that made an id hears ranks of other machines, see machines/reception.hpp.
struct Reach {
  using Address = std::array<uint8_t, 16>;  // of IPv6, in which those of IPv4 have a place
  static constexpr uint32_t kMost = 4;

  uint16_t port;  // 0: it hears none
  uint16_t count;
  Address addresses[kMost];  // one of which a machine may reach, the likeliest first
};

/// Tells where ranks can meet from elsewhere: this machine, as it has been since it was started, and its /dev/shm,
/// which a container may have for itself. Ranks to which NCCL_HOSTID says different things are on different machines.
uint64_t meetingPlace();

/// An id that nobody has had before. @throws Failure ncclSystemError
ncclUniqueId makeUniqueId(const Reach& reach = {});
/// The id from which every process takes this name.
ncclUniqueId uniqueIdOf(const Name& name, const Reach& reach = {});
/// Whether this library has made it, here or elsewhere.
bool isOurs(const ncclUniqueId& id);

/// What an id calls to.
struct Invitation {
  Name name;
  std::optional<Reach> elsewhere;  // it was made on another machine, and ranks of others are heard there
};
/// @throws Failure ncclInvalidArgument: this library hasn't made it, or elsewhere, where nobody hears ranks of others.
Invitation invitationOf(const ncclUniqueId& id);
/// @throws Failure ncclInvalidArgument: this library hasn't made it, or not on this machine, or where there is another
/// /dev/shm.
Name nameOf(const ncclUniqueId& id);

}  // namespace dfccl::nccl
