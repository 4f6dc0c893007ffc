#pragma once
// One registration of an id by all its ranks, on their devices, as a world sees it: GpuRegistration where they are of
// one process, JoinedRegistration where each is one.
#include <cstdint>
#include <functional>
#include <vector>

#include "host/member/gpu_member.hpp"
#include "world/backend.hpp"
#include "world/collective_spec.hpp"

namespace dfccl::gpu {

class DeviceRegistration {
 public:
  virtual ~DeviceRegistration() = default;

  virtual const CollectiveSpec& spec() const = 0;
  virtual bool isPoisoned() const = 0;
  /// @pre isPoisoned(), and the daemons of its members then were asked to drop it. @return whether nobody touches the
  /// buffers any more.
  virtual bool isQuarantineOver() = 0;
  /// Of each member: what its daemon took in, and what it finished; of one that isn't there any more, what it had.
  /// @param issuedOf what a rank of this process has issued of what has that index in its tables.
  virtual std::vector<MemberProgress> progress(
      const std::function<uint64_t(uint32_t rank, uint32_t index)>& issuedOf) = 0;
  /// Of a member of this process. Reads the device.
  virtual uint64_t finishedRunsOf(uint32_t member) const = 0;
  /// Runs that a member of this process had when it left; 0: it never has.
  virtual uint64_t runsAtLeaving(uint32_t member) const = 0;
  /// Device memory of a member of this process.
  virtual size_t bytesOf(uint32_t member) const = 0;
  /// A member of this process.
  virtual GpuMember& memberHere(uint32_t member) = 0;
  /// Runs of this process's members that are kernels of their own, and under way, end. Nothing waits for that.
  virtual void letKernelsEnd() = 0;
};

}  // namespace dfccl::gpu
