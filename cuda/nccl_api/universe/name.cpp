#include "nccl_api/universe/name.hpp"

#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {
namespace {

constexpr uint64_t kMagic = 0x31636e6c63636664;  // "dfcclnc1"

/// How the 128 bytes of an id begin; the rest is zero.
struct Content {
  uint64_t magic;
  uint64_t meetingPlace;
  Name name;
  Reach reach;
};
static_assert(sizeof(Content) <= sizeof(ncclUniqueId));

Content contentOf(const ncclUniqueId& id) {
  Content content{};
  std::memcpy(static_cast<void*>(&content), &id, sizeof content);
  return content;
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
uint64_t mix(uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

Content checkedContentOf(const ncclUniqueId& id) {
  const Content content = contentOf(id);
  if (content.magic != kMagic) {
    refuseArgument("The unique id was not made by this library.",
                   "Let one rank call ncclGetUniqueId, with this library in its process, and pass what it gets.");
  }
  return content;
}

[[noreturn]] void refuseElsewhere(const std::string& remedy) {
  refuseArgument("The unique id was made on another machine, or in a container with another /dev/shm.", remedy);
}

}  // namespace

uint64_t meetingPlace() {
  std::string facts;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> facts;
  if (const char* const host = std::getenv("NCCL_HOSTID")) facts += host;
  struct stat shared {};
  uint64_t hash = stat("/dev/shm", &shared) == 0 ? mix(shared.st_dev) : 0;
  for (const char c : facts) hash = mix(hash + 0x9e3779b97f4a7c15 + static_cast<unsigned char>(c));
  return hash;
}

Name Name::derived(uint64_t first, uint64_t second) const {
  const uint64_t facts = mix(mix(first + 0x9e3779b97f4a7c15) + second);
  return {mix(high ^ facts), mix(low + 0xd1342543de82ef95 * facts)};
}

std::string Name::text() const {
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  return digits;
}

ncclUniqueId makeUniqueId(const Reach& reach) {
  Name name;
  if (getrandom(&name, sizeof name, 0) != sizeof name) {
    throw Failure(ncclSystemError, std::string("The system gave no random number: ") + std::strerror(errno) + ".",
                  "Try again.");
  }
  return uniqueIdOf(name, reach);
}

ncclUniqueId uniqueIdOf(const Name& name, const Reach& reach) {
  const Content content{kMagic, meetingPlace(), name, reach};
  ncclUniqueId id{};
  std::memcpy(&id, &content, sizeof content);
  return id;
}

bool isOurs(const ncclUniqueId& id) { return contentOf(id).magic == kMagic; }

Invitation invitationOf(const ncclUniqueId& id) {
  const Content content = checkedContentOf(id);
  if (content.meetingPlace == meetingPlace()) return {content.name, std::nullopt};
  if (content.reach.port == 0 || content.reach.count > Reach::kMost) {
    refuseElsewhere(
        "A communicator whose ranks are on several machines is NVIDIA's, if DFCCL_REAL_NCCL names that on all of them, "
        "also where the id is made; else run all ranks on one, and containers with one /dev/shm (as by --ipc=host).");
  }
  return {content.name, content.reach};
}

Name nameOf(const ncclUniqueId& id) {
  const Content content = checkedContentOf(id);
  if (content.meetingPlace != meetingPlace()) {
    refuseElsewhere("Run all ranks on one, and containers with one /dev/shm (as by --ipc=host).");
  }
  return content.name;
}

}  // namespace dfccl::nccl
