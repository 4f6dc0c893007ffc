#include "host/rank/rank_streams.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <string>

#include "device/daemon_kernel.cuh"
#include "device/retractable_wait.cuh"
#include "host/driver/stream_capture.hpp"
#include "host/driver/stream_memory.hpp"

namespace dfccl::gpu {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& remedy, int device) {
  throw Error(dfcclInvalidArgument, "The stream " + what + ".", remedy, {{"device", std::to_string(device)}});
}

/// The polling warp reads so many lines at once.
constexpr uint32_t kLinesAtOnce = 32;
constexpr uint32_t kNoLine = 0xffffffff;

/// Which device's it is depends on the thread's.
bool isCudasOwn(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

uint32_t linesOf(const RankLimits& limits) { return std::min(limits.completionSlots, kMostLines); }

}  // namespace

size_t RankStreams::pinnedBytes(const RankLimits& limits) {
  return sizeof(Atomic<uint32_t>) + 2 * linesOf(limits) * sizeof(Atomic<uint32_t>) + 512;
}

RankStreams::RankStreams(DeviceArena& arena, PinnedMemory& pinned, const RankLimits& limits, DeviceWaits& waits,
                         uint32_t place)
    : arena_(arena),
      waits_(waits),
      place_(place),
      mustLeave_(*new (pinned.take(sizeof(Atomic<uint32_t>))) Atomic<uint32_t>{}),
      lines_(linesOf(limits)),
      before_(limits.collectives) {
  const uint32_t lines = linesOf(limits);
  const PendingMemory::Header header{kNoPending, 0, 0, 0};
  const std::vector<uint32_t> lastOfId(limits.collectives, kNoPending);
  const std::vector<StreamLine> nothing(lines, StreamLine{kNoPending, kNoPending, 0});
  pending_.header = arena.put(&header, 1);
  pending_.runs = {reinterpret_cast<PendingRun*>(arena.allocate(slotsMade(limits) * sizeof(PendingRun))),
                   slotsMade(limits)};
  pending_.lastOfId = {arena.put(lastOfId.data(), lastOfId.size()), lastOfId.size()};
  pending_.lines = {arena.put(nothing.data(), nothing.size()), nothing.size()};
  pending_.arrived = {
      reinterpret_cast<Atomic<uint32_t, Scope::device>*>(arena.allocate(lines * sizeof(Atomic<uint32_t>))), lines};
  pending_.opened = {reinterpret_cast<Atomic<uint32_t>*>(pinned.take(lines * sizeof(Atomic<uint32_t>))), lines};
  rung_ = {reinterpret_cast<Atomic<uint32_t>*>(pinned.take(lines * sizeof(Atomic<uint32_t>))), lines};
  const bool isAlone = place == DeviceWaits::kNoPlace;  // no stream waits for its runs
  waiting_.completed = {isAlone ? reinterpret_cast<Atomic<uint32_t, Scope::device>*>(
                                      arena.allocate(limits.collectives * sizeof(Atomic<uint32_t>)))
                                : waits.completedOf(place),
                        limits.collectives};
  waiting_.device = waits.awaited();
  waiting_.ranks = waits.ranks();
  waiting_.mustLeave = &mustLeave_;
  const VainLook none;
  waiting_.vainLook = arena.put(&none, 1);
}

std::optional<uint64_t> RankStreams::captureOf(cudaStream_t stream) const {
  const int mine = arena_.device();
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  // Every run behind a stream asks, and a stream that somebody made needs no device to be named by.
  std::optional<OnDevice> here;
  if (isCudasOwn(stream)) here.emplace(mine);
  const cudaError_t error = cudaStreamIsCapturing(stream, &capture);
  if (error != cudaSuccess) cudaGetLastError();
  if (error != cudaSuccess) {
    refuse(std::string("can't be used: ") + cudaGetErrorString(error),
           "Pass a stream that is there; the default one can't be used while another stream is captured.", mine);
  }
  if (capture == cudaStreamCaptureStatusNone) return std::nullopt;
  return StreamCapture(stream).id();
}

void RankStreams::checkDevice(cudaStream_t stream) const {
  const int mine = arena_.device();
  const OnDevice here(mine);
  int device = -1;
  DFCCL_CUDA(cudaStreamGetDevice(stream, &device));
  if (device == mine) return;
  refuse("is one of device " + std::to_string(device) + ", and the rank is on device " + std::to_string(mine),
         "Pass a stream that was made after cudaSetDevice(" + std::to_string(mine) + ").", mine);
}

uint64_t RankStreams::idOf(cudaStream_t stream) {
  std::optional<OnDevice> here;
  if (isCudasOwn(stream)) here.emplace(arena_.device());
  unsigned long long id = 0;
  DFCCL_CUDA(cudaStreamGetId(stream, &id));
  if (checkedId_.load(order::relaxed) == id) return id;
  checkDevice(stream);
  checkedId_.store(id, order::relaxed);
  return id;
}

bool RankStreams::isFree(cudaStream_t stream) const {
  const OnDevice here(arena_.device());
  unsigned flags = 0;
  DFCCL_CUDA(cudaStreamGetFlags(stream, &flags));
  return (flags & cudaStreamNonBlocking) != 0;
}

RankStreams::Entered::Entered(RankStreams& streams, uint32_t line)
    : streams_(streams), line_(line), lock_(streams.lines_[line].mutex) {}

PlaceOnLine RankStreams::Entered::next() const {
  return {line_, streams_.lines_[line_].asked.load(order::relaxed) + 1};
}

// The device's word first: whoever starts a daemon because of the host's finds the device's.
void RankStreams::Entered::arrive(cudaStream_t stream) {
  const PlaceOnLine place = next();
  streams_.lines_[line_].asked.store(place.number, order::release);
  const OnDevice here(streams_.arena_.device());
  storeOnStream(stream, &streams_.pending_.arrived[line_], place.number);
  storeOnStream(stream, &streams_.rung_[line_], place.number);
}

std::unique_ptr<RankStreams::Entered> RankStreams::enter(cudaStream_t stream) {
  unsigned long long id = 0;
  {
    const OnDevice here(arena_.device());
    DFCCL_CUDA(cudaStreamGetId(stream, &id));
  }
  for (;;) {
    const uint32_t line = lineOf(id);
    if (line == kNoLine) return nullptr;
    std::unique_ptr<Entered> entered(new Entered(*this, line));
    // Until it was entered, it may have been given to another stream.
    const std::lock_guard lock(linesMutex_);
    if (lines_[line].streamId == id) return entered;
  }
}

/// Nothing of its stream's is on its way.
bool RankStreams::isIdle(uint32_t line) const {
  const uint32_t asked = lines_[line].asked.load(order::acquire);
  return rung_[line].load(order::acquire) == asked && pending_.opened[line].load(order::acquire) == asked;
}

/// The stream's, or one that is no other stream's, or no more.
uint32_t RankStreams::lineOf(uint64_t streamId) {
  const std::lock_guard lock(linesMutex_);
  const auto found = lineOfStream_.find(streamId);
  if (found != lineOfStream_.end()) return found->second;
  const uint32_t count = lineCount_.load(order::relaxed);
  uint32_t line = kNoLine;
  for (uint32_t i = 0; count >= kLinesAtOnce && i < count && line == kNoLine; ++i) {
    // Whoever has entered it is about to put something on it.
    if (!isIdle(i) || !lines_[i].mutex.try_lock()) continue;
    lines_[i].mutex.unlock();
    lineOfStream_.erase(lines_[i].streamId);
    line = i;
  }
  if (line == kNoLine) {
    if (count == lines_.size()) return kNoLine;
    line = count;
    lineCount_.store(count + 1, order::release);
  }
  lines_[line].streamId = streamId;
  lineOfStream_[streamId] = line;
  return line;
}

void RankStreams::letWait(cudaStream_t stream, uint32_t index, uint32_t target, WaitNote* note) const {
  const OnDevice here(arena_.device());
  const auto* const word = &waiting_.completed[index];
  if (note == nullptr) return waitOnStreamFor(stream, word, target);
  DFCCL_CUDA(launchRetractableWait({word, target, note}, stream));
}

void RankStreams::letStreamsGo(cudaStream_t through) {
  if (place_ == DeviceWaits::kNoPlace) return;
  for (uint32_t index = 0; index < before_.size(); ++index) {
    const uint32_t awaited = waits_.awaitedOf(place_, index);
    if (awaited == 0) continue;
    try {
      storeOnStream(through, &waiting_.completed[index], awaited);
    } catch (const Error&) {  // a device that is broken has let them go, with its error
    }
  }
}

bool RankStreams::hasArrivals() const {
  const uint32_t count = lineCount_.load(order::acquire);
  for (uint32_t line = 0; line < count; ++line) {
    if (rung_[line].load(order::acquire) != pending_.opened[line].load(order::acquire)) return true;
  }
  return false;
}

bool RankStreams::isAwaited() const {
  const uint32_t count = lineCount_.load(order::acquire);
  for (uint32_t line = 0; line < count; ++line) {
    if (lines_[line].asked.load(order::acquire) != pending_.opened[line].load(order::acquire)) return true;
  }
  return false;
}

}  // namespace dfccl::gpu
