#pragma once
// What a member has of all members, as its daemon reads it.
#include <vector>

#include "host/member/gpu_member.hpp"

namespace dfccl::gpu {

struct GpuMember::Others {
  std::vector<Mailbox*> mailboxes;
  std::vector<Atomic<uint64_t>*> finished;
  std::vector<uint8_t*> scratch, landings;
  std::vector<double> scales;
  std::vector<windows::Table> windows;

  /// Before anything is known of them.
  explicit Others(uint32_t members)
      : mailboxes(members), finished(members), scratch(members), landings(members), scales(members), windows(members) {}
  explicit Others(const std::vector<MemberView>& members) {
    for (const MemberView& view : members) {
      mailboxes.push_back(view.at<Mailbox>(view.facts.mailboxes));
      auto* const shared = view.at<CollectiveShared>(view.facts.shared);
      finished.push_back(shared == nullptr ? nullptr : &shared->finishedAccess);
      scratch.push_back(view.at<uint8_t>(view.facts.scratch));
      landings.push_back(view.at<uint8_t>(view.facts.landing));
      scales.push_back(view.facts.scale);
      windows.push_back(view.windows);
    }
  }
};

}  // namespace dfccl::gpu
