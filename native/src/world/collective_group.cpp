#include "world/collective_group.hpp"

#include <cinttypes>

#include "error.hpp"

namespace dfccl {

CollectiveGroup::CollectiveGroup(const CollectiveSpec& spec, uint64_t programDigest, Arena& arena,
                                 ConnectorPool& connectors)
    : spec_(spec),
      programDigest_(programDigest),
      arena_(arena),
      connectors_(connectors),
      mailboxes_(spec.ranks.size()),
      scratch_(spec.ranks.size(), nullptr),
      scratchBytes_(spec.ranks.size(), 0),
      scales_(spec.ranks.size(), 1.0),
      programs_(spec.ranks.size(), nullptr),
      state_(spec.ranks.size(), State::absent),
      indices_(spec.ranks.size(), 0),
      ends_(spec.ranks.size()),
      blockProgress_(spec.ranks.size()) {
  spec_.program.clear();
  spec_.program.shrink_to_fit();
  shared_.id = spec.id;
  shared_.members = static_cast<uint32_t>(spec.ranks.size());
  shared_.mailboxes = mailboxes_.data();
  shared_.scratch = scratch_.data();
  shared_.scales = scales_.data();
  shared_.ranks = spec_.ranks.data();
  shared_.programs = programs_.data();
  shared_.poisonedBy.store(CollectiveShared::kNobody, order::relaxed);
}

CollectiveGroup::~CollectiveGroup() {
  for (auto& [key, connector] : leased_) connectors_.giveBack(connector);
  for (size_t m = 0; m < scratch_.size(); ++m) arena_.free(scratch_[m], scratchBytes_[m]);
}

void CollectiveGroup::checkAgreement(const CollectiveSpec& spec, uint64_t programDigest, uint32_t rank) const {
  const auto differ = [&](const char* field, const std::string& mine, const std::string& theirs) {
    throw Error(dfcclRegistrationMismatch,
                "Collective " + std::to_string(spec.id) + ": rank " + std::to_string(rank) + " registers " + field +
                    " " + mine + ", but another rank registered " + theirs + ".",
                "Register the id with the same arguments on every rank, or give this collective an id of its own.",
                {{"id", std::to_string(spec.id)},
                 {"rank", std::to_string(rank)},
                 {"field", field},
                 {"mine", mine},
                 {"theirs", theirs}});
  };
  const auto list = [](const std::vector<uint32_t>& ranks) {
    std::string text = "[";
    for (size_t i = 0; i < ranks.size(); ++i) text += (i ? ", " : "") + std::to_string(ranks[i]);
    return text + "]";
  };
  if (spec.collective != spec_.collective) differ("collective", nameOf(spec.collective), nameOf(spec_.collective));
  if (spec.type != spec_.type) differ("dataType", nameOf(spec.type), nameOf(spec_.type));
  if (spec.op != spec_.op) differ("op", nameOf(spec.op), nameOf(spec_.op));
  if (spec.count != spec_.count) differ("count", std::to_string(spec.count), std::to_string(spec_.count));
  if (spec.ranks != spec_.ranks) differ("ranks", list(spec.ranks), list(spec_.ranks));
  if (hasRoot(spec.collective) && spec.root != spec_.root)
    differ("root", std::to_string(spec.root), std::to_string(spec_.root));
  if (programDigest != programDigest_) {
    char mine[20], theirs[20];
    std::snprintf(mine, sizeof mine, "%016" PRIx64, programDigest);
    std::snprintf(theirs, sizeof theirs, "%016" PRIx64, programDigest_);
    differ("program (digest)", mine, theirs);
  }
}

void CollectiveGroup::join(uint32_t member, const BoundProgram& program, double scale, CollectiveRecord& record) {
  // Everything that can fail comes first; what was taken before a failure belongs to the group and is used by a retry.
  if (program.scratchBytes != 0 && scratch_[member] == nullptr) {
    scratch_[member] = arena_.allocate(program.scratchBytes);
    scratchBytes_[member] = program.scratchBytes;
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
  blockProgress_[member] = std::vector<Atomic<uint64_t>>(program.header.blockCount);
  scales_[member] = scale;
  programs_[member] = &program;
  shared_.togetherBytes.fetchAdd(program.togetherBytes, order::relaxed);
  indices_[member] = record.index;
  record.connections = ends_[member].data();
  record.scratch = scratch_[member];
  record.shared = &shared_;
  record.blockProgress = blockProgress_[member].data();
  state_[member] = State::joined;
  ++joinedEver_;
  shared_.registered.fetchAdd(1, order::acqRel);
}

bool CollectiveGroup::leave(uint32_t member) {
  state_[member] = State::left;
  ++left_;
  return left_ == shared_.members;
}

size_t CollectiveGroup::connectorBytes() const {
  size_t bytes = 0;
  for (const auto& [key, c] : leased_) bytes += sizeof(ConnectorMemory) + size_t{c.slotCount} * c.slotBytes;
  return bytes;
}

}  // namespace dfccl
