#pragma once
// The memory of members that graphs have runs of: it stays until the last of those graphs is gone, whatever becomes of
// the member, its rank and its world.
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "host/driver/memory.hpp"
#include "host/member/captured_member.hpp"

namespace dfccl::gpu {

/// A rank's. Under the lock of the world's registrations.
class HeldMembers {
 public:
  HeldMembers() = default;
  HeldMembers(const HeldMembers&) = delete;
  HeldMembers& operator=(const HeldMembers&) = delete;

  ~HeldMembers();

  /// Memory for the notes of several members. It is taken with a call of CUDA's, which may wait until a device is idle:
  /// under no lock that others need. @throws Error dfcclOutOfMemory
  static std::unique_ptr<PinnedMemory> makeNotes();
  bool hasNotes() const { return !unused_.empty(); }
  void add(std::unique_ptr<PinnedMemory> notes);
  /// Zeroed. @pre hasNotes()
  CapturedNotes& takeNotes();
  /// Stays as long as what graphs look at.
  void keep(std::shared_ptr<PinnedMemory> memory) { kept_.push_back(std::move(memory)); }
  /// A member is there, until giveBack().
  void enter(CapturedMember& member) { there_.push_back(&member); }
  /// The member's, whose memory may go when no graph has runs of it any more, which `free` does.
  void giveBack(std::shared_ptr<CapturedMember> member, CapturedNotes& notes, std::function<void()> free);
  /// Frees what no graph holds any more. @return whether something is still held.
  bool sweep();
  /// Runs of graphs that came to no result, of all members that there ever were.
  uint64_t ended() const;
  /// The rank ends: whatever a graph has of its members ends, too, when it is launched. @pre its daemon is gone
  void end(cudaStream_t stream);

 private:
  static constexpr size_t kNotesOfChunk = 256;
  struct Held {
    std::shared_ptr<CapturedMember> member;
    CapturedNotes* notes;
    std::function<void()> free;
  };
  std::vector<std::unique_ptr<PinnedMemory>> chunks_;
  std::vector<std::shared_ptr<PinnedMemory>> kept_;
  std::vector<CapturedNotes*> unused_;
  std::vector<CapturedMember*> there_;
  std::vector<Held> held_;
  uint64_t endedBefore_ = 0;  // of members whose notes others have by now
};

}  // namespace dfccl::gpu
