#include "host/gpu_member.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "daemon/framing/protocols.hpp"
#include "device/daemon_kernel.cuh"

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
      finished.push_back(&view.at<CollectiveShared>(view.facts.shared)->finishedAccess);
      scratch.push_back(view.at<uint8_t>(view.facts.scratch));
      landings.push_back(view.at<uint8_t>(view.facts.landing));
      scales.push_back(view.facts.scale);
      windows.push_back(view.windows);
    }
  }
};

GpuMember::GpuMember(DeviceArena& arena, const CollectiveSpec& spec, uint32_t member,
                     std::shared_ptr<const BoundProgram> program, std::shared_ptr<const BoundProgram> staged,
                     const CollectiveRecord& begun, const MemberHome& home, bool namesWindows)
    : arena_(arena),
      member_(member),
      members_(static_cast<uint32_t>(spec.ranks.size())),
      program_(std::move(program)),
      connected_(staged ? std::move(staged) : program_),
      record_(begun),
      home_(home) {
  try {
    takeShared(namesWindows);
    takeEnds();
    const uint64_t scratchBytes = std::max(program_->scratchBytes, connected_->scratchBytes);
    record_.scratch = scratchBytes == 0 ? nullptr : take(scratchBytes);
    uint8_t* landing = program_->exchanges ? take(program_->landingBytes()) : nullptr;
    facts_.shared = placeOf(copy_.shared);
    facts_.mailboxes = placeOf(copy_.places.mailboxes);
    facts_.landing = placeOf(landing);
    facts_.scratch = placeOf(record_.scratch);
    facts_.scale = spec.scale;
    record_.connections = connections_;
    record_.shared = copy_.shared;
    record_.places = copy_.shared;
    record_.blockProgress = takeArray<Atomic<uint64_t, Scope::device>>(record_.blockCount);
    imageBytes_ = imageOf(Others(members_)).size();
    image_ = take(imageBytes_);
    storeShared(spec);
    arena_.store(home_.place, &record_, sizeof record_);
  } catch (...) {
    for (const Taken& taken : taken_) arena_.free(taken.block, taken.bytes);
    throw;
  }
}

GpuMember::~GpuMember() {
  for (const Taken& taken : taken_) arena_.free(taken.block, taken.bytes);
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
  for (const ConnectionRecord& c : connected_->connections) {
    const uint32_t source = c.isSend ? member_ : c.peer;
    const uint32_t destination = c.isSend ? c.peer : member_;
    MemberFacts::End end{source, destination, c.channel, c.isSend ? 1u : 0u, MemberFacts::kNone, MemberFacts::kNone};
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

void GpuMember::storeImage() {
  const std::vector<uint8_t> image = imageOf(*others_);
  arena_.store(image_, image.data(), image.size());
  // A block that sees the image sees how long it is.
  arena_.store(&home_.place->imageBytes, &imageBytes_, sizeof imageBytes_);
  arena_.store(&home_.place->image, &image_, sizeof image_);
}

void GpuMember::leave(uint64_t finishedRuns) {
  hasLeft_ = true;
  runsAtLeaving_ = finishedRuns;
}

void GpuMember::comeBack(const CollectiveRecord& begun, const MemberHome& home) {
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
  arena_.store(home_.place, &record_, sizeof record_);
  if (isComplete()) storeImage();
}

void GpuMember::storeConnections(const std::vector<MemberView>& members) {
  std::vector<Connector> ends;
  const uint32_t slotBytes = slotBytesOf(*connected_);
  for (const MemberFacts::End& mine : facts_.ends) {
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

namespace {

/// Lays records out behind one another, and knows where they will be on the device.
class ImageWriter {
 public:
  template <class T>
  size_t append(const T* items, size_t count) {
    const size_t at = (bytes_.size() + 15) / 16 * 16;
    bytes_.resize(at + count * sizeof(T));
    if (items != nullptr && count != 0) std::memcpy(bytes_.data() + at, items, count * sizeof(T));
    return at;
  }
  template <class T>
  size_t append(const std::vector<T>& items) {
    return append(items.data(), items.size());
  }
  std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace

std::vector<uint8_t> GpuMember::imageOf(const Others& others) const {
  CollectiveRecord record = record_;
  MeetingPlaces places = copy_.places;
  BoundProgram program = *program_;
  ImageWriter writer;
  const CollectiveImage empty{};
  writer.append(&empty, 1);
  const size_t knownAt = writer.append(std::vector<Mailbox>(members_));
  const size_t mailboxCopiesAt = writer.append(others.mailboxes);
  const size_t finishedCopiesAt = writer.append(others.finished);
  const size_t scratchAt = writer.append(others.scratch);
  const size_t landingsAt = writer.append(others.landings);
  const size_t scalesAt = writer.append(others.scales);
  const size_t windowsAt = copy_.windows == nullptr ? 0 : writer.append(others.windows);
  const size_t blocksAt = writer.append(program.blocks.data(), program.blocks.size());
  const size_t connectionsAt = writer.append(program.connections.data(), program.connections.size());
  const size_t stepsAt = writer.append(program.steps.data(), program.steps.size());
  const size_t refsAt = writer.append(program.refs.data(), program.refs.size());
  const size_t dependenciesAt = writer.append(program.dependencies.data(), program.dependencies.size());
  const size_t chunksAt = writer.append(program.chunks.data(), program.chunks.size());
  const size_t bytes = (writer.bytes().size() + 15) / 16 * 16;
  writer.bytes().resize(bytes);
  const auto point = [&](auto*& pointer, size_t at) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(image_ + at);
  };
  point(places.knownMailboxes, knownAt);
  point(places.mailboxCopies, mailboxCopiesAt);
  point(places.finishedAccessCopies, finishedCopiesAt);
  point(places.scratch, scratchAt);
  point(places.landings, landingsAt);
  point(places.scales, scalesAt);
  if (copy_.windows != nullptr) point(places.windows, windowsAt);
  point(program.blocks.items, blocksAt);
  point(program.connections.items, connectionsAt);
  point(program.steps.items, stepsAt);
  point(program.refs.items, refsAt);
  point(program.dependencies.items, dependenciesAt);
  point(program.chunks.items, chunksAt);
  auto* image = reinterpret_cast<CollectiveImage*>(writer.bytes().data());
  const auto offsetOf = [&](const auto& part) {
    return static_cast<size_t>(reinterpret_cast<const uint8_t*>(&part) - writer.bytes().data());
  };
  point(record.places, offsetOf(image->places));
  point(record.program, offsetOf(image->program));
  std::memcpy(static_cast<void*>(&image->record), &record, sizeof record);
  std::memcpy(static_cast<void*>(&image->places), &places, sizeof places);
  std::memcpy(static_cast<void*>(&image->program), &program, sizeof program);
  return std::move(writer.bytes());
}

uint64_t GpuMember::submittedRuns() const {
  return std::max(runsAtLeaving_, PostedProgress::countOf(home_.posted->submitted, record_.registration));
}
uint64_t GpuMember::finishedRuns() const {
  return std::max(runsAtLeaving_, PostedProgress::countOf(home_.posted->finished, record_.registration));
}
bool GpuMember::hasDropped() const {
  return PostedProgress::countOf(home_.posted->dropped, record_.registration) == home_.grid;
}

}  // namespace dfccl::gpu
