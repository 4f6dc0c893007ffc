#include "host/member/captured_member.hpp"

#include <algorithm>
#include <string>

#include "host/driver/check.hpp"
#include "host/driver/stream_memory.hpp"
#include "world/graph_numbers.hpp"

namespace dfccl::gpu {

namespace {

int32_t formOf(const CapturedRun& run) {
  constexpr uint32_t kMostReduced = 4, kMostWide = 8;
  constexpr uint64_t kMostWideLines = 4;         // of a worker
  constexpr uint64_t kLine = 8, kMostLines = 8;  // bytes of payload; of a worker
  if (run.layout.isLarge) return CapturedForm::large;
  if (run.layout.tileElements != run.layout.laneElements) return CapturedForm::any;
  const uint64_t lines = (run.layout.tileElements * sizeOf(run.type) + kLine - 1) / kLine;
  const uint64_t ofWorker = (lines + kCapturedWorkers - 1) / kCapturedWorkers;
  if (ofWorker > kMostLines) return CapturedForm::any;
  const uint64_t bytes = run.count * sizeOf(run.type);
  const uint64_t places = reinterpret_cast<uint64_t>(run.send) | reinterpret_cast<uint64_t>(run.recv) | bytes;
  const int32_t held = ofWorker > 4 ? 8 : ofWorker > 1 ? 4 : 1;
  switch (run.collective) {
    case Collective::sendRecv:
      return CapturedForm::message + held;
    case Collective::allReduce:
    case Collective::reduce:
    case Collective::reduceScatter:
      break;
    default:
      return CapturedForm::copies + held;
  }
  // Of nothing, members meet by flags that the general way sends otherwise.
  if (run.members > kMostWide || bytes == 0) return CapturedForm::any;
  const bool isWholeSum = run.collective == Collective::allReduce && places % kLine == 0;
  if (run.members > kMostReduced) {
    if (ofWorker > kMostWideLines) return CapturedForm::any;
    return isWholeSum ? CapturedForm::wideSum + (ofWorker == 2 ? 2 : held) : CapturedForm::wideReduction + held;
  }
  return isWholeSum ? CapturedForm::wholeSum + (ofWorker == 2 ? 2 : held) : CapturedForm::reduction + held;
}

/// Of runs that go by lines only where others don't reach a buffer: each signature has slots of its own, and a program
/// may have hundreds of large ones. What graphs capture goes so more often.
uint64_t largeTileBytes(uint32_t lanes, uint32_t slots, bool isOfGraphs) {
  constexpr uint64_t kOfGraphs = 14336, kMostLandingBytes = 1 << 20, kFewest = 128, kSlotAlignment = 128;
  if (isOfGraphs) return kOfGraphs;
  const uint64_t ofSlot = kMostLandingBytes / (2 * uint64_t{lanes} * slots) - sizeof(DirectPost);
  return std::clamp(ofSlot / kSlotAlignment * kSlotAlignment / 2, kFewest, uint64_t{kCapturedTileBytes});
}

}  // namespace

CapturedLayout CapturedLayout::of(const Shape& shape) {
  // A line for each of a block's workers; but to find out that another block is done costs more than a second one.
  constexpr uint64_t kPerLane = 3584, kMostOfOne = 8192;
  constexpr uint64_t kAlignment = 16, kPayloadOfWire = 2, kSlotAlignment = 128;
  // To meet and to part takes longer than lines do, up to there: with one other, one tile a lane; in streams with more,
  // whose lines of an all-reduce carry all that each has to all of them, what was measured with four and eight. A
  // message that is no larger than that is over for its sender before the receiver comes, at the price of slots for all
  // of it, twice.
  constexpr uint64_t kFewestDirectBytes = 512 << 10, kFewestOfAllReduce = 1536 << 10, kMostEagerBytes = 256 << 10;
  const uint64_t element = sizeOf(shape.type);
  const uint64_t bytes = shape.count * element;
  CapturedLayout layout{};
  layout.lanes = 1;
  while (bytes > kMostOfOne && kPerLane * layout.lanes < bytes && 2 * layout.lanes <= shape.mostLanes) {
    layout.lanes *= 2;
  }
  const uint64_t share = (bytes + layout.lanes - 1) / layout.lanes;
  const uint64_t aligned = std::max(kAlignment, (share + kAlignment - 1) / kAlignment * kAlignment);
  layout.laneElements = aligned / element;
  const uint64_t oneTileALane = uint64_t{layout.lanes} * kCapturedTileBytes;
  layout.isMessage = shape.isMessage;
  layout.isLarge = shape.isMessage                          ? bytes > std::min(kMostEagerBytes, oneTileALane)
                   : shape.members == 2                     ? bytes > oneTileALane
                   : shape.isAllReduce && !shape.isOfGraphs ? bytes * (shape.members + 2) >= kFewestOfAllReduce
                                                            : bytes * shape.segments >= kFewestDirectBytes;
  const uint32_t slots = shape.isMessage ? 1 : shape.members;
  const uint64_t tile = layout.isLarge ? largeTileBytes(layout.lanes, slots, shape.isOfGraphs) : kCapturedTileBytes;
  layout.tileElements = std::min(aligned, tile) / element;
  const uint64_t wire = layout.tileElements * element * kPayloadOfWire;
  layout.slotBytes = static_cast<uint32_t>((wire + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment);
  return layout;
}

void CapturedMember::checkSpec(const CollectiveSpec& spec) {
  if (!spec.program.empty() || spec.collective == Collective::custom) {
    throw Error(dfcclUnavailable, "A program of your own can't be part of a graph yet.",
                "Run it outside of the capture, or use a built-in collective.", {{"id", spec.id.text()}});
  }
  if (spec.ranks.size() <= kMostCapturedMembers) return;
  throw Error(dfcclUnavailable,
              "A collective of " + std::to_string(spec.ranks.size()) + " ranks can't be part of a graph: at most " +
                  std::to_string(kMostCapturedMembers) + " can.",
              "Run it outside of the capture.", {{"ranks", std::to_string(spec.ranks.size())}});
}

CapturedMember::CapturedMember(const CollectiveSpec& spec, uint32_t member, CapturedNotes& notes, CapturedState* state,
                               KnownWindows* known)
    : key_(spec.id),
      notes_(notes),
      state_(state),
      source_(std::make_shared<RunsInStreams::Source>(&notes.overInStreams, &notes.firstEndedInStreams)),
      hold_(std::make_shared<int>()) {
  run_.notes = &notes;
  run_.state = state;
  run_.known = known;
  run_.collective = spec.collective;
  run_.type = spec.type;
  run_.op = spec.op;
  run_.member = member;
  run_.members = static_cast<uint32_t>(spec.ranks.size());
  run_.root = spec.root;
  run_.count = spec.collective == Collective::barrier ? 0 : spec.count;
  run_.layout = layoutOf(spec);
}

CapturedLayout CapturedMember::layoutOf(const CollectiveSpec& spec) {
  const auto members = static_cast<uint32_t>(spec.ranks.size());
  const bool hasSegments = spec.collective == Collective::allGather || spec.collective == Collective::reduceScatter ||
                           spec.collective == Collective::allToAll || spec.collective == Collective::gather ||
                           spec.collective == Collective::scatter;
  const uint32_t mostLanes = spec.mostBlocks == 0 ? kMostCapturedLanes : std::min(spec.mostBlocks, kMostCapturedLanes);
  return CapturedLayout::of({spec.type, spec.collective == Collective::barrier ? 0 : spec.count,
                             hasSegments ? members : 1, members, spec.signature.graph != GraphNumbers::kStreams,
                             spec.collective == Collective::sendRecv, mostLanes,
                             spec.collective == Collective::allReduce});
}

void CapturedMember::complete(const std::vector<uint8_t*>& landings, const std::vector<double>& scales,
                              const std::vector<windows::Table>& windows) {
  std::copy(landings.begin(), landings.end(), notes_.members.landings);
  std::copy(scales.begin(), scales.end(), notes_.members.scales);
  std::copy(windows.begin(), windows.end(), notes_.members.windows);
  notes_.isComplete.store(1, order::release);
}

CapturedRun CapturedMember::runOf(const CapturedBuffers& buffers) const {
  CapturedRun run = run_;
  run.send = run.usesSend() ? buffers.send : nullptr;
  run.recv = run.usesRecv() ? buffers.recv : nullptr;
  run.sendWindow = run.usesSend() ? buffers.windows.send : 0;
  run.recvWindow = run.usesRecv() ? buffers.windows.recv : 0;
  run.renewals = buffers.windows.renewals;
  // Others would write where this member has yet to send from.
  const bool isInPlace = run.send == run.recv && run.collective == Collective::allToAll;
  if (isInPlace) run.recvWindow = windows::kUnmapped;
  run.form = formOf(run);
  return run;
}

CapturedRun CapturedMember::prepareLaunch(cudaStream_t stream, uint64_t streamId, const CapturedBuffers& buffers,
                                          bool isAwaited) {
  if (streamId != lastStream_ && overInStreams() != launched_)
    waitOnStreamFor(stream, overOnDevice(), static_cast<uint32_t>(launched_));
  CapturedRun run = runOf(buffers);
  run.numberInStreams = ++launched_;
  run.isAwaited = isAwaited;
  run.isBehindStream = streamId != lastStream_;
  lastStream_ = streamId;
  return run;
}

CapturedPlace CapturedMember::capture(const StreamCapture& capture, const CapturedBuffers& buffers) {
  const CapturedRun run = runOf(buffers);
  const std::lock_guard lock(capturing_);
  std::vector<cudaGraphNode_t> behind = capture.behind();
  const auto last = std::find_if(last_.begin(), last_.end(),
                                 [&](const CapturedPlace& place) { return place.capture == capture.id(); });
  // Runs of a collective match by their order, whatever stream they are captured from.
  if (last != last_.end()) {
    auto* const node = static_cast<cudaGraphNode_t>(last->node);
    if (!capture.isBehind(node)) behind.push_back(node);
  }
  capture.keep(hold_);
  cudaGraphNode_t node = nullptr;
  check(addCapturedRun(capture.graph(), behind.data(), behind.size(), run, &node), "cudaGraphAddKernelNode");
  const CapturedPlace place{node, capture.id()};
  if (last != last_.end()) {
    last->node = node;
  } else {
    if (last_.size() == kMostCaptures) last_.erase(last_.begin());
    last_.push_back(place);
  }
  return place;
}

}  // namespace dfccl::gpu
