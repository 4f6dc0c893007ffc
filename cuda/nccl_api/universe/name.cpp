#include "nccl_api/universe/name.hpp"

#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
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

/// Tells where ranks can meet from elsewhere: this machine, as it has been since it was started, and its /dev/shm,
/// which a container may have for itself.
uint64_t meetingPlace() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat shared {};
  uint64_t hash = stat("/dev/shm", &shared) == 0 ? mix(shared.st_dev) : 0;
  for (const char c : boot) hash = mix(hash + 0x9e3779b97f4a7c15 + static_cast<unsigned char>(c));
  return hash;
}

}  // namespace

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

ncclUniqueId makeUniqueId() {
  Name name;
  if (getrandom(&name, sizeof name, 0) != sizeof name) {
    throw Failure(ncclSystemError, std::string("The system gave no random number: ") + std::strerror(errno) + ".",
                  "Try again.");
  }
  return uniqueIdOf(name);
}

ncclUniqueId uniqueIdOf(const Name& name) {
  const Content content{kMagic, meetingPlace(), name};
  ncclUniqueId id{};
  std::memcpy(&id, &content, sizeof content);
  return id;
}

bool isOurs(const ncclUniqueId& id) { return contentOf(id).magic == kMagic; }

Name nameOf(const ncclUniqueId& id) {
  const Content content = contentOf(id);
  if (content.magic != kMagic) {
    refuseArgument("The unique id was not made by this library.",
                   "Let one rank call ncclGetUniqueId, with this library in its process, and pass what it gets.");
  }
  if (content.meetingPlace != meetingPlace()) {
    refuseArgument(
        "The unique id was made on another machine, or in a container with another /dev/shm.",
        "Ranks on GPUs of several machines can't meet yet; run all of them on one, and containers with one /dev/shm "
        "(as "
        "by --ipc=host), or give NVIDIA's NCCL all communicators (DFCCL_REAL_NCCL, and DFCCL_REAL_NCCL_FOR=all).");
  }
  return content.name;
}

}  // namespace dfccl::nccl
