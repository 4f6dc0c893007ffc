#include "cpu/local_registration.hpp"

#include <algorithm>
#include <cstring>

#include "daemon/framing/protocols.hpp"

namespace dfccl {
namespace {

// More than any platform executes jointly.
constexpr uint64_t kMostJointBytes = 1 << 20;

}  // namespace

LocalRegistration::LocalRegistration(const CollectiveSpec& spec, uint64_t programDigest, Arena& arena,
                                     ConnectorPool& connectors)
    : spec_(spec),
      programDigest_(programDigest),
      arena_(arena),
      connectors_(connectors),
      mailboxes_(spec.ranks.size()),
      scratch_(spec.ranks.size(), nullptr),
      scratchBytes_(spec.ranks.size(), 0),
      landings_(spec.ranks.size(), nullptr),
      landingBytes_(spec.ranks.size(), 0),
      scales_(spec.ranks.size(), 1.0),
      programs_(spec.ranks.size()),
      state_(spec.ranks.size(), State::absent),
      runsAtLeaving_(spec.ranks.size(), 0),
      indices_(spec.ranks.size(), 0),
      ends_(spec.ranks.size()),
      blockProgress_(spec.ranks.size()) {
  spec_.program.clear();
  spec_.program.shrink_to_fit();
  shared_.id = spec.id.number;
  shared_.members = static_cast<uint32_t>(spec.ranks.size());
  shared_.mailboxes = mailboxes_.data();
  shared_.knownMailboxes = mailboxes_.data();
  shared_.copyCount = 1;
  shared_.mailboxCopies = &shared_.mailboxes;
  shared_.finishedAccessCopies = &finishedAccess_;
  shared_.scratch = scratch_.data();
  shared_.landings = landings_.data();
  shared_.scales = scales_.data();
  shared_.ranks = spec_.ranks.data();
  shared_.poisonedBy.store(CollectiveShared::kNobody, order::relaxed);
}

LocalRegistration::~LocalRegistration() {
  for (auto& [key, connector] : leased_) connectors_.giveBack(connector);
  for (size_t m = 0; m < scratch_.size(); ++m) {
    arena_.free(scratch_[m], scratchBytes_[m]);
    arena_.free(landings_[m], landingBytes_[m]);
  }
}

void LocalRegistration::checkAgreement(const CollectiveSpec& spec, uint64_t programDigest, uint32_t rank) const {
  dfccl::checkAgreement(spec_, programDigest_, spec, programDigest, rank);
}

void LocalRegistration::join(uint32_t member, std::shared_ptr<const BoundProgram> owned, std::span<const uint8_t>,
                             double scale, CollectiveRecord& record) {
  const BoundProgram& program = *owned;
  if (isAway(member)) return enter(member, program, record);
  // Everything that can fail comes first; what was taken before a failure is the registration's, and a retry uses it.
  if (program.scratchBytes != 0 && scratch_[member] == nullptr) {
    scratch_[member] = arena_.allocate(program.scratchBytes);
    scratchBytes_[member] = program.scratchBytes;
  }
  programs_[member] = std::move(owned);
  const uint64_t togetherBytes =
      spec_.countPerRun ? kNeverTogether : shared_.togetherBytes.load(order::relaxed) + program.togetherBytes;
  if (shared_.registered.load(order::relaxed) + 1 == shared_.members) {
    std::vector<const BoundProgram*> programs;
    for (const auto& each : programs_) programs.push_back(each.get());
    if (spec_.countPerRun) joint_ = joinMovesOfOne(programs, kMostJointBytes);
    if (togetherBytes <= kMostJointBytes) joint_ = joinMoves(programs);
    shared_.joint = joint_.view();
  }
  if (program.exchanges && landings_[member] == nullptr) {
    landings_[member] = arena_.allocate(program.landingBytes());
    landingBytes_[member] = program.landingBytes();
    // Whatever a former owner left there must not look like a flag.
    std::memset(landings_[member], 0, landingBytes_[member]);
  }
  ends_[member].clear();
  const auto slotBytes = static_cast<uint32_t>(
      (wireBytes(static_cast<Protocol>(program.header.protocol), program.slotPayloadBytes) + 127) / 128 * 128);
  for (const ConnectionRecord& c : program.connections) {
    const ConnectionKey key =
        c.isSend ? ConnectionKey{member, c.peer, c.channel} : ConnectionKey{c.peer, member, c.channel};
    auto found = leased_.find(key);
    if (found == leased_.end()) {
      found =
          leased_.emplace(key, connectors_.lease(program.header.slotCount, slotBytes < 128 ? 128 : slotBytes)).first;
    }
    ends_[member].push_back(found->second);
  }
  blockProgress_[member] = std::vector<Atomic<uint64_t, Scope::device>>(program.header.blockCount);
  scales_[member] = scale;
  shared_.togetherBytes.store(togetherBytes, order::relaxed);
  enter(member, program, record);
  shared_.registered.fetchAdd(1, order::acqRel);
}

void LocalRegistration::enter(uint32_t member, const BoundProgram& program, CollectiveRecord& record) {
  indices_[member] = record.index;
  record.connections = ends_[member].data();
  record.scratch = scratch_[member];
  record.shared = &shared_;
  record.places = &shared_;
  record.place(program);
  record.blockProgress = blockProgress_[member].data();
  record.submittedRuns.store(runsAtLeaving_[member], order::relaxed);
  record.finishedRuns.store(runsAtLeaving_[member], order::relaxed);
  state_[member] = State::joined;
}

void LocalRegistration::leave(uint32_t member, Departure departure, uint64_t finishedRuns) {
  runsAtLeaving_[member] = finishedRuns;
  state_[member] = departure == Departure::forNow ? State::away : State::left;
}

bool LocalRegistration::has(State state) const {
  return std::find(state_.begin(), state_.end(), state) != state_.end();
}

bool LocalRegistration::isAbandoned() const {
  if (has(State::joined)) return false;
  return !has(State::away) || shared_.isPoisoned() || areEven(runsAtLeaving_);
}

size_t LocalRegistration::connectorBytes() const {
  size_t bytes = 0;
  for (const auto& [key, c] : leased_) bytes += sizeof(ConnectorMemory) + size_t{c.slotCount} * c.slotBytes;
  return bytes;
}

}  // namespace dfccl
