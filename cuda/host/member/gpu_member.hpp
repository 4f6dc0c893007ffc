#pragma once
// One member of a collective, with all that it keeps in its own GPU's memory: for daemons its record, its copy of what
// the members share, its ends of the connections; for kernels in streams and graphs what those keep between them; its
// landing area. What the others have to know of that fits in a few bytes, as places in the rank's arena, so it may come
// from this process or another one.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "daemon/state/rank_memory.hpp"
#include "host/driver/memory.hpp"
#include "host/member/captured_member.hpp"
#include "host/member/held_members.hpp"
#include "host/member/quiet_look.hpp"
#include "host/member/remote_connectors.hpp"
#include "os/tick_clock.hpp"
#include "world/collective_spec.hpp"

namespace dfccl::gpu {

/// Places are distances from the beginning of a member's arena.
struct MemberPlaces {
  static constexpr uint64_t kNone = ~uint64_t{0};

  uint64_t shared, mailboxes;
  uint64_t landing, scratch;  // or kNone
  double scale;
};

/// What the others know of a member.
struct MemberFacts : MemberPlaces {
  struct End {
    uint32_t source, destination, channel;
    uint32_t isSend;
    uint64_t counters;
    uint64_t slots;  // the receiver's; else kNone
  };
  std::vector<End> ends;

  std::vector<uint8_t> packed() const;
  static MemberFacts of(std::span<const uint8_t> packed);
};

/// A member as another one sees it.
struct MemberView {
  MemberFacts facts;
  uint8_t* arena;          // where its rank's arena is seen; null: nowhere, it is on another machine
  windows::Table windows;  // on the device: what its addresses mean here; null: the same
  // In the host's memory, the same: for runs that no daemon carries out, which would have to tell the device.
  windows::Table windowsInHost;

  template <class T>
  T* at(uint64_t place) const {
    return place == MemberFacts::kNone || arena == nullptr ? nullptr : reinterpret_cast<T*>(arena + place);
  }
  static MemberView elsewhere() { return {{}, nullptr, nullptr, nullptr}; }
};

/// Where a member's rank keeps it.
struct MemberHome {
  CollectiveRecord* place;       // on the device
  const PostedProgress* posted;  // in the host's memory
  uint32_t grid;
  HeldMembers* held;
  KnownWindows* known;  // on the device
};

class GpuMember {
 public:
  /// Takes all of its memory and stores its record; what kernels of their own carry out has none, as no daemon needs to
  /// know of it: to tell one may take its launch, which may have to wait for such a kernel. Nobody's daemon starts a
  /// run of it before complete().
  /// @param begun the record but for what lies in this memory.
  /// @param staged or null, see CollectiveRecord. @param namesWindows some members are other processes.
  /// @param remote null: none of them is on another machine. @throws Error dfcclOutOfMemory
  GpuMember(DeviceArena& arena, const CollectiveSpec& spec, uint32_t member,
            std::shared_ptr<const BoundProgram> program, std::shared_ptr<const BoundProgram> staged,
            const CollectiveRecord& begun, const MemberHome& home, bool namesWindows,
            std::unique_ptr<RemoteConnectors> remote = nullptr);
  ~GpuMember();
  GpuMember(const GpuMember&) = delete;
  GpuMember& operator=(const GpuMember&) = delete;

  const MemberFacts& facts() const { return facts_; }
  /// Stores where the others are, and then that all are there. Takes no memory.
  /// @param members all of them, this one included, as this one sees them.
  void complete(const std::vector<MemberView>& members);
  bool isComplete() const { return isComplete_; }
  /// Its rank gives the place back; the memory stays, for the others, and for the rank if it comes back.
  void leave(uint64_t finishedRuns);
  /// Its rank is back, with another place, and its next run is the one behind its last. Takes no memory.
  /// @param begun as for the constructor, with the same program. @param isHeld its runs wait for complete(), even if
  /// that has been called before. @pre it has left
  void comeBack(const CollectiveRecord& begun, const MemberHome& home, bool isHeld = false);
  /// Runs that it had when it left; 0: it never has.
  uint64_t runsAtLeaving() const { return runsAtLeaving_; }

  uint32_t index() const { return record_.index; }
  /// The program that has its connections, and those that lead to other machines. @pre it was made with some
  const BoundProgram& connected() const { return *connected_; }
  const RemoteConnectors& remote() const { return *remote_; }
  // As the daemon posts it now and then, and whenever it leaves; or as the kernels tell.
  uint64_t submittedRuns() const;
  uint64_t finishedRuns() const;
  /// @pre the daemon was asked to, or endCaptured()
  bool hasDropped();
  size_t bytes() const { return bytes_; }
  /// Of a collective whose runs graphs carry out; else null.
  const std::shared_ptr<CapturedMember>& captured() const { return captured_; }
  /// Runs of graphs' that are under way end, and so do those that come.
  void endCaptured();

 private:
  struct Taken {
    uint8_t* block;
    size_t bytes;
  };
  /// What the members share, as this one has it on its device.
  struct Copy {
    CollectiveShared* shared;
    MeetingPlaces places;
    windows::Table* windows;  // those of `places`; or null
    uint32_t* ranks;
  };

  struct Others;  // tables of what the members have, for the daemon

  uint8_t* take(size_t bytes);
  template <class T>
  T* takeArray(size_t count) {
    return reinterpret_cast<T*>(take(count * sizeof(T)));
  }
  uint64_t placeOf(const void* memory) const;
  void takeCaptured(const CollectiveSpec& spec);
  void takeForDaemon(const CollectiveSpec& spec, bool namesWindows);
  void takeShared(bool namesWindows);
  void takeEnds();
  void freeAll();
  bool isQuiet();
  void completeForDaemon(const std::vector<MemberView>& members);
  void storeShared(const CollectiveSpec& spec);
  void storeConnections(const std::vector<MemberView>& members);
  std::vector<uint8_t> imageOf(const Others& others) const;
  void storeImage();

  DeviceArena& arena_;
  const uint32_t member_;
  const uint32_t members_;
  const std::shared_ptr<const BoundProgram> program_;
  const std::shared_ptr<const BoundProgram> connected_;  // the one that has the connections
  CollectiveRecord record_;
  MemberHome home_;
  MemberFacts facts_;
  Copy copy_{};
  const std::unique_ptr<RemoteConnectors> remote_;
  Connector* connections_ = nullptr;
  uint8_t* image_ = nullptr;
  uint64_t imageBytes_ = 0;
  std::unique_ptr<const Others> others_;  // for the daemon, once all have come
  bool isComplete_ = false;
  bool hasLeft_ = false;
  uint64_t runsAtLeaving_ = 0;
  CapturedNotes* notes_ = nullptr;
  uint64_t endStored_ = 0;  // the request of endCaptured()
  QuietLook quiet_{ticksOf(1000)};
  std::shared_ptr<CapturedMember> captured_;
  std::vector<Taken> taken_;
  size_t bytes_ = 0;
};

}  // namespace dfccl::gpu
