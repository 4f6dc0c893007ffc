#include "host/member/gpu_member.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "daemon/framing/protocols.hpp"
#include "host/member/gpu_member_others.hpp"
#include "os/tick_clock.hpp"

namespace dfccl::gpu {
namespace {

uint32_t slotBytesOf(const BoundProgram& program) {
  const size_t wire = wireBytes(static_cast<Protocol>(program.header.protocol), program.slotPayloadBytes);
  const auto bytes = static_cast<uint32_t>((wire + 127) / 128 * 128);
  return bytes < 128 ? 128 : bytes;
}

}  // namespace

std::vector<uint8_t> MemberFacts::packed() const {
  const MemberPlaces& places = *this;
  std::vector<uint8_t> bytes(sizeof places + ends.size() * sizeof(End));
  std::memcpy(bytes.data(), &places, sizeof places);
  if (!ends.empty()) std::memcpy(bytes.data() + sizeof places, ends.data(), ends.size() * sizeof(End));
  return bytes;
}

MemberFacts MemberFacts::of(std::span<const uint8_t> packed) {
  MemberPlaces places{};
  std::memcpy(&places, packed.data(), sizeof places);
  const std::span<const uint8_t> rest = packed.subspan(sizeof places);
  MemberFacts facts{places, std::vector<End>(rest.size() / sizeof(End))};
  if (!rest.empty()) std::memcpy(facts.ends.data(), rest.data(), rest.size());
  return facts;
}

GpuMember::GpuMember(DeviceArena& arena, const CollectiveSpec& spec, uint32_t member,
                     std::shared_ptr<const BoundProgram> program, std::shared_ptr<const BoundProgram> staged,
                     const CollectiveRecord& begun, const MemberHome& home, bool namesWindows,
                     std::unique_ptr<RemoteConnectors> remote)
    : arena_(arena),
      member_(member),
      members_(static_cast<uint32_t>(spec.ranks.size())),
      program_(std::move(program)),
      connected_(staged ? std::move(staged) : program_),
      record_(begun),
      home_(home),
      remote_(std::move(remote)) {
  facts_.scale = spec.scale;
  try {
    spec.signature.isCaptured() ? takeCaptured(spec) : takeForDaemon(spec, namesWindows);
    facts_.shared = placeOf(copy_.shared);
    facts_.mailboxes = placeOf(copy_.places.mailboxes);
    facts_.scratch = placeOf(record_.scratch);
  } catch (...) {
    freeAll();
    throw;
  }
}

GpuMember::~GpuMember() { freeAll(); }

void GpuMember::freeAll() {
  const auto free = [arena = &arena_, taken = std::move(taken_)] {
    for (const Taken& each : taken) arena->free(each.block, each.bytes);
  };
  if (captured_ == nullptr) return free();
  endCaptured();
  home_.held->giveBack(std::move(captured_), *notes_, free);
}

void GpuMember::takeForDaemon(const CollectiveSpec& spec, bool namesWindows) {
  takeShared(namesWindows);
  takeEnds();
  const uint64_t scratchBytes = std::max(program_->scratchBytes, connected_->scratchBytes);
  record_.scratch = scratchBytes == 0 ? nullptr : take(scratchBytes);
  facts_.landing = placeOf(program_->exchanges ? take(program_->landingBytes()) : nullptr);
  record_.connections = connections_;
  record_.shared = copy_.shared;
  record_.places = copy_.shared;
  record_.blockProgress = takeArray<Atomic<uint64_t, Scope::device>>(record_.blockCount);
  imageBytes_ = imageOf(Others(members_)).size();
  image_ = take(imageBytes_);
  storeShared(spec);
  arena_.store(home_.place, &record_, sizeof record_);
}

void GpuMember::takeCaptured(const CollectiveSpec& spec) {
  const CapturedLayout layout = CapturedMember::layoutOf(spec);
  facts_.landing = placeOf(take(layout.landingBytes(member_, members_, spec.root)));
  auto* const state = reinterpret_cast<CapturedState*>(take(CapturedState::bytes(layout.lanes)));
  notes_ = &home_.held->takeNotes();
  captured_ = std::make_shared<CapturedMember>(spec, member_, *notes_, state, home_.known);
  home_.held->enter(*captured_);
}

void GpuMember::endCaptured() {
  if (captured_ == nullptr) return;
  constexpr uint32_t kYes = 1;
  captured_->end();
  endStored_ = arena_.store(captured_->mustEndOnDevice(), &kYes, sizeof kYes);
}

uint8_t* GpuMember::take(size_t bytes) {
  uint8_t* block = arena_.allocate(bytes);
  taken_.push_back({block, bytes});
  bytes_ += bytes;
  return block;
}

uint64_t GpuMember::placeOf(const void* memory) const {
  return memory == nullptr ? MemberFacts::kNone
                           : static_cast<uint64_t>(static_cast<const uint8_t*>(memory) - arena_.base());
}

void GpuMember::takeShared(bool namesWindows) {
  copy_.shared = takeArray<CollectiveShared>(1);
  copy_.ranks = takeArray<uint32_t>(members_);
  copy_.windows = namesWindows ? takeArray<windows::Table>(members_) : nullptr;
  MeetingPlaces& places = copy_.places;
  places.members = places.copyCount = members_;
  places.mailboxes = takeArray<Mailbox>(members_);
  // What it has to translate it keeps elsewhere than where the others write.
  places.knownMailboxes = namesWindows ? takeArray<Mailbox>(members_) : places.mailboxes;
  places.mailboxCopies = takeArray<Mailbox*>(members_);
  places.finishedAccessCopies = takeArray<Atomic<uint64_t>*>(members_);
  places.scratch = takeArray<uint8_t*>(members_);
  places.landings = takeArray<uint8_t*>(members_);
  places.scales = takeArray<double>(members_);
  places.windows = copy_.windows;
}

/// Each end of a connection has counters of its own, and the receiver the slots. The ends are in the order of the
/// program's connections.
void GpuMember::takeEnds() {
  if (remote_ != nullptr) {
    remote_->take(*connected_, slotBytesOf(*connected_));
    bytes_ += remote_->bytes();
  }
  for (const ConnectionRecord& c : connected_->connections) {
    const uint32_t source = c.isSend ? member_ : c.peer;
    const uint32_t destination = c.isSend ? c.peer : member_;
    MemberFacts::End end{source, destination, c.channel, c.isSend ? 1u : 0u, MemberFacts::kNone, MemberFacts::kNone};
    if (remote_ != nullptr && remote_->isElsewhere(c.peer)) {
      facts_.ends.push_back(end);
      continue;
    }
    end.counters = placeOf(takeArray<ConnectorMemory>(1));
    if (!c.isSend) end.slots = placeOf(take(size_t{connected_->header.slotCount} * slotBytesOf(*connected_)));
    facts_.ends.push_back(end);
  }
  connections_ = takeArray<Connector>(facts_.ends.size());
}

void GpuMember::storeShared(const CollectiveSpec& spec) {
  CollectiveShared shared{};
  static_cast<MeetingPlaces&>(shared) = copy_.places;
  shared.id = spec.id.number;
  shared.ranks = copy_.ranks;
  shared.poisonedBy.store(CollectiveShared::kNobody, order::relaxed);
  arena_.store(copy_.ranks, spec.ranks.data(), members_ * sizeof(uint32_t));
  // Not what the others write: they may have come first.
  arena_.store(copy_.shared, &shared, offsetof(CollectiveShared, finishedAccess));
}

void GpuMember::complete(const std::vector<MemberView>& members) {
  isComplete_ = true;
  if (captured_ == nullptr) return completeForDaemon(members);
  const auto allOf = [&](const auto& of) {
    std::vector<decltype(of(members[0]))> all;
    for (const MemberView& view : members) all.push_back(of(view));
    return all;
  };
  captured_->complete(allOf([](const MemberView& view) { return view.at<uint8_t>(view.facts.landing); }),
                      allOf([](const MemberView& view) { return view.facts.scale; }),
                      allOf([](const MemberView& view) { return view.windowsInHost; }));
}

void GpuMember::completeForDaemon(const std::vector<MemberView>& members) {
  others_ = std::make_unique<const Others>(members);
  const Others& others = *others_;
  const auto store = [&](auto* to, const auto& values) {
    arena_.store(to, values.data(), values.size() * sizeof values[0]);
  };
  store(copy_.places.mailboxCopies, others.mailboxes);
  store(copy_.places.finishedAccessCopies, others.finished);
  store(copy_.places.scratch, others.scratch);
  store(copy_.places.landings, others.landings);
  store(copy_.places.scales, others.scales);
  if (copy_.windows != nullptr) store(copy_.windows, others.windows);
  storeConnections(members);
  // The place is another collective's by now.
  if (!hasLeft_) storeImage();
  // Last: a copy that says that all are there must hold what they brought.
  arena_.store(&copy_.shared->registered, &members_, sizeof members_);
}

void GpuMember::leave(uint64_t finishedRuns) {
  hasLeft_ = true;
  runsAtLeaving_ = finishedRuns;
}

void GpuMember::comeBack(const CollectiveRecord& begun, const MemberHome& home, bool isHeld) {
  CollectiveRecord record = begun;
  record.connections = record_.connections;
  record.scratch = record_.scratch;
  record.shared = record_.shared;
  record.places = record_.places;
  record.blockProgress = record_.blockProgress;
  record.submittedRuns.store(runsAtLeaving_, order::relaxed);
  record.finishedRuns.store(runsAtLeaving_, order::relaxed);
  record_ = record;
  home_ = home;
  hasLeft_ = false;
  if (captured_ != nullptr) return;
  if (isHeld) {
    constexpr uint32_t kNobody = 0;
    isComplete_ = false;
    arena_.store(&copy_.shared->registered, &kNobody, sizeof kNobody);
  }
  arena_.store(home_.place, &record_, sizeof record_);
  if (isComplete()) storeImage();
}

void GpuMember::storeConnections(const std::vector<MemberView>& members) {
  std::vector<Connector> ends;
  const uint32_t slotBytes = slotBytesOf(*connected_);
  for (size_t i = 0; i < facts_.ends.size(); ++i) {
    const MemberFacts::End& mine = facts_.ends[i];
    if (remote_ != nullptr && remote_->all()[i].memory != nullptr) {
      ends.push_back(remote_->all()[i]);
      continue;
    }
    const MemberView& self = members[member_];
    const MemberView& peer = members[mine.isSend != 0 ? mine.destination : mine.source];
    const auto theirs = std::find_if(peer.facts.ends.begin(), peer.facts.ends.end(), [&](const MemberFacts::End& end) {
      return end.source == mine.source && end.destination == mine.destination && end.channel == mine.channel &&
             end.isSend != mine.isSend;
    });
    auto* counters = self.at<ConnectorMemory>(mine.counters);
    if (theirs == peer.facts.ends.end()) {
      // No program that was verified has such an end; it never gets anywhere.
      ends.push_back({counters, self.at<uint8_t>(mine.slots), mine.isSend != 0 ? 0 : connected_->header.slotCount,
                      slotBytes, counters});
      continue;
    }
    uint8_t* slots = mine.isSend != 0 ? peer.at<uint8_t>(theirs->slots) : self.at<uint8_t>(mine.slots);
    ends.push_back(
        {counters, slots, connected_->header.slotCount, slotBytes, peer.at<ConnectorMemory>(theirs->counters)});
  }
  arena_.store(connections_, ends.data(), ends.size() * sizeof(Connector));
}

uint64_t GpuMember::submittedRuns() const {
  if (captured_ != nullptr) return captured_->begunInStreams();
  return std::max(runsAtLeaving_, PostedProgress::countOf(home_.posted->submitted, record_.registrationNumber));
}
uint64_t GpuMember::finishedRuns() const {
  if (captured_ != nullptr) return captured_->overInStreams();
  return std::max(runsAtLeaving_, PostedProgress::countOf(home_.posted->finished, record_.registrationNumber));
}
bool GpuMember::isQuiet() {
  const bool isEndStored = arena_.isStored(endStored_);
  const uint64_t over = captured_->overInStreams();
  return quiet_.look(isEndStored, over, captured_->begunInStreams(), readTicks());
}

bool GpuMember::hasDropped() {
  if (captured_ != nullptr) return isQuiet();
  return PostedProgress::countOf(home_.posted->dropped, record_.registrationNumber) == home_.grid;
}

}  // namespace dfccl::gpu
