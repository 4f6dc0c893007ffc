#pragma once
// One registration of an id by all its ranks: what they share, and who has come and gone. Who registers the id later
// begins another one, so an aborted run can never meet a new one.
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "cpu/connector_pool.hpp"
#include "daemon/state/records.hpp"
#include "program/join_moves.hpp"
#include "world/collective_spec.hpp"
#include "world/joint_registration.hpp"

namespace dfccl {

class LocalRegistration final : public JointRegistration {
 public:
  LocalRegistration(const CollectiveSpec& spec, uint64_t programDigest, Arena& arena, ConnectorPool& connectors);
  ~LocalRegistration() override;
  LocalRegistration(const LocalRegistration&) = delete;
  LocalRegistration& operator=(const LocalRegistration&) = delete;

  void checkAgreement(const CollectiveSpec& spec, uint64_t programDigest, uint32_t rank) const override;
  void join(uint32_t member, std::shared_ptr<const BoundProgram> program, std::span<const uint8_t> bytes, double scale,
            CollectiveRecord& record) override;
  void leave(uint32_t member, Departure departure, uint64_t finishedRuns) override;

  bool hasJoined(uint32_t member) const override { return state_[member] != State::absent; }
  bool isMember(uint32_t member) const override { return state_[member] == State::joined; }
  bool isAway(uint32_t member) const override { return state_[member] == State::away; }
  uint64_t runsAtLeaving(uint32_t member) const override { return runsAtLeaving_[member]; }
  bool isAbandoned() const override;
  const CollectiveSpec& spec() const override { return spec_; }
  CollectiveShared& shared() override { return shared_; }
  uint32_t indexOf(uint32_t member) const override { return indices_[member]; }
  size_t connectorBytes() const override;
  size_t jointBytes() const override { return joint_.memoryBytes(); }
  size_t ownBytes() const override { return sizeof *this; }

 private:
  enum class State : uint8_t { absent, joined, away, left };
  bool has(State state) const;
  /// @pre the member has its memory.
  void enter(uint32_t member, const BoundProgram& program, CollectiveRecord& record);

  using ConnectionKey = std::tuple<uint32_t, uint32_t, uint32_t>;  // source, destination, channel

  CollectiveSpec spec_;
  uint64_t programDigest_;
  Arena& arena_;
  ConnectorPool& connectors_;
  CollectiveShared shared_{};
  Atomic<uint64_t>* finishedAccess_ = &shared_.finishedAccess;  // the one copy, as shared_ lists it
  std::vector<Mailbox> mailboxes_;
  std::vector<uint8_t*> scratch_;
  std::vector<size_t> scratchBytes_;
  std::vector<uint8_t*> landings_;
  std::vector<size_t> landingBytes_;
  std::vector<double> scales_;
  std::vector<std::shared_ptr<const BoundProgram>> programs_;  // a member may leave before the last has come
  OwnedJointMoves joint_;
  std::vector<State> state_;
  std::vector<uint64_t> runsAtLeaving_;
  std::vector<uint32_t> indices_;
  std::map<ConnectionKey, Connector> leased_;
  std::vector<std::vector<Connector>> ends_;                                 // [member][connection of its program]
  std::vector<std::vector<Atomic<uint64_t, Scope::device>>> blockProgress_;  // [member][program block]
};

}  // namespace dfccl
