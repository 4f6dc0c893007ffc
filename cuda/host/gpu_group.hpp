#pragma once
// One registration of an id by all its ranks, on their devices: every member has a copy of what they share, in its own
// memory, and writes what it has to say into all of them.
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "dfccl/daemon/records.hpp"
#include "host/memory.hpp"
#include "world/backend.hpp"
#include "world/collective_spec.hpp"

namespace dfccl::gpu {

class GpuGroup {
 public:
  /// @param arenas of the members' devices, in the order of spec.ranks.
  GpuGroup(const CollectiveSpec& spec, uint64_t programDigest, std::vector<DeviceArena*> arenas);
  ~GpuGroup();
  GpuGroup(const GpuGroup&) = delete;
  GpuGroup& operator=(const GpuGroup&) = delete;

  const CollectiveSpec& spec() const { return spec_; }
  /// @throws Error dfcclRegistrationMismatch
  void checkAgreement(const CollectiveSpec& spec, uint64_t programDigest, uint32_t rank) const {
    dfccl::checkAgreement(spec_, programDigest_, spec, programDigest, rank);
  }
  bool hasJoined(uint32_t member) const { return joinedMembers_[member].program != nullptr; }
  bool isMember(uint32_t member) const { return hasJoined(member) && !joinedMembers_[member].hasLeft; }
  /// All that ever joined have left.
  bool isAbandoned() const { return joined_ == left_; }

  /// Completes a member's record, stores it at its place on the device, and lets all members know.
  /// @throws Error dfcclOutOfMemory.
  void join(uint32_t member, std::shared_ptr<const BoundProgram> program, double scale, const CollectiveRecord& record,
            CollectiveRecord* place);
  /// @pre The member's runs are all finished.
  void leave(uint32_t member);

  /// Gives the id up: whoever registers it anew begins another group. @return false: somebody has already.
  bool poison(uint32_t rank);
  bool isPoisoned() const { return poisonedBy_ != CollectiveShared::kNobody; }
  /// @pre isPoisoned(), and the daemons of its members then were asked to drop it. @return whether nobody touches the
  /// buffers any more.
  bool isQuarantineOver() const;

  /// Of a member: what its daemon took in, and what it finished. Reads the device.
  MemberProgress progressOf(uint32_t member) const;
  uint64_t finishedRunsOf(uint32_t member) const;
  uint32_t indexOf(uint32_t member) const { return joinedMembers_[member].record.index; }
  /// Device memory of one member.
  size_t bytesOf(uint32_t member) const;

 private:
  using ConnectionKey = std::tuple<uint32_t, uint32_t, uint32_t>;  // source, destination, channel

  /// Device addresses of one member's copy.
  struct Copy {
    CollectiveShared* shared;
    Mailbox* mailboxes;
    Mailbox** mailboxCopies;
    Atomic<uint64_t>** finishedAccessCopies;
    uint8_t** scratch;
    uint8_t** landings;
    double* scales;
    uint32_t* ranks;
  };
  /// What a member brought.
  struct Joined {
    std::shared_ptr<const BoundProgram> program;
    CollectiveRecord record;
    CollectiveRecord* place = nullptr;  // on the device
    uint8_t* landing = nullptr;
    double scale = 1;
    bool hasLeft = false;
    bool isAsked = false;  // its daemon is to acknowledge the abort
  };
  struct Link {
    Connector send, receive;
  };
  struct Taken {
    DeviceArena* arena;
    uint8_t* block;
    size_t bytes;
  };

  uint8_t* take(uint32_t member, size_t bytes);
  template <class T>
  T* takeArray(uint32_t member, size_t count) {
    return reinterpret_cast<T*>(take(member, count * sizeof(T)));
  }
  void makeImage(uint32_t member);
  const Link& linkOf(const ConnectionRecord& end, uint32_t member, uint32_t slotCount, uint32_t slotBytes);

  CollectiveSpec spec_;
  uint64_t programDigest_;
  std::vector<DeviceArena*> arenas_;
  std::vector<Copy> copies_;
  std::vector<Taken> taken_;
  std::map<ConnectionKey, Link> links_;
  std::vector<Joined> joinedMembers_;
  uint32_t joined_ = 0;
  uint32_t left_ = 0;
  uint32_t poisonedBy_ = CollectiveShared::kNobody;
};

}  // namespace dfccl::gpu
