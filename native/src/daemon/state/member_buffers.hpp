#pragma once
#include <cstdint>

#include "daemon/state/records.hpp"

namespace dfccl {

/// Where the members' buffers are in one run of a collective, as this member knows them.
struct MemberBuffers {
  const CollectiveRecord& collective;  // its constant part
  const MeetingPlaces& places;
  const RunAddresses& run;

  DFCCL_HD uint8_t* base(uint32_t member, BufferKind buffer) const {
    if (buffer != BufferKind::scratch) return userBuffer(member, buffer == BufferKind::input);
    return member == collective.member ? collective.scratch : places.scratch[member];
  }

  /// @pre Of another member: its mailbox carries this run.
  DFCCL_HD uint8_t* userBuffer(uint32_t member, bool isInput) const {
    if (member == collective.member) return reinterpret_cast<uint8_t*>(isInput ? run.sendAddress : run.recvAddress);
    const Mailbox& box = places.knownMailboxes[member];
    const uint64_t word = (isInput ? box.input : box.output).load(order::relaxed);
    return reinterpret_cast<uint8_t*>(Mailbox::address(word));
  }
};

}  // namespace dfccl
