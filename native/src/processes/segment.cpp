#include "processes/segment.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>

#include "base/error.hpp"
#include "dfccl/dfccl.h"
#include "os/futex.hpp"

namespace dfccl {
namespace {

constexpr size_t kPage = 4096;
constexpr uint32_t kWordBits = 64;

size_t roundUp(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

size_t areaBytes(const SegmentShape& shape) {
  return roundUp(sizeof(RankArea)) + roundUp(sizeof(CollectiveRecord) * shape.collectives);
}

[[noreturn]] void refuseSystem(const std::string& what, int error, const std::string& remedy) {
  throw Error(dfcclSystemError, what + ": " + std::strerror(error) + ".", remedy, {{"errno", std::to_string(error)}});
}

}  // namespace

struct Segment::Header {
  uintptr_t base;  // where the first process has mapped it, and all others must
  SegmentShape shape;
  char job[64];
  SharedLock lock;
  SharedArenaHeader arena;
  SharedRegistrationRecord* registrationLists[Segment::kRegistrationLists];
  SharedGenerationRecord* generationLists[Segment::kRegistrationLists];
  uint64_t registrationCount;  // ever
  SharedDecision decision;
  SharedBallots ballots;
  alignas(64)
      Atomic<uint64_t> awaiting[kMaxProcesses / kWordBits];  // one bit a rank: its threads sleep and wait for others
  uint64_t remote[kMaxProcesses / kWordBits];                // one bit a rank: it is on another machine
};

std::shared_ptr<Segment> Segment::create(const SegmentShape& shape, uint32_t rank, uintptr_t base,
                                         const std::vector<uint32_t>& locals) {
  const int descriptor = memfd_create("dfccl", MFD_CLOEXEC);
  if (descriptor < 0) refuseSystem("The system refused memory to share", errno, "Raise the limit on open files.");
  return std::shared_ptr<Segment>(new Segment(descriptor, shape, rank, base, locals));
}

std::shared_ptr<Segment> Segment::attach(int descriptor, const SegmentShape& shape, uint32_t rank) {
  return std::shared_ptr<Segment>(new Segment(descriptor, shape, rank, 0));
}

std::shared_ptr<Segment> Segment::observe(int descriptor) {
  SegmentShape shape{};
  char version[sizeof shape.version]{};
  std::strncpy(version, dfcclVersion(), sizeof version - 1);
  const bool isRead = pread(descriptor, &shape, sizeof shape, offsetof(Header, shape)) == sizeof shape;
  if (!isRead || std::memcmp(shape.version, version, sizeof version) != 0 || shape.ranks > kMaxProcesses) {
    close(descriptor);
    return nullptr;
  }
  try {
    return std::shared_ptr<Segment>(new Segment(descriptor, shape, kObserver, 0));
  } catch (const Error&) {
    return nullptr;
  }
}

std::string Segment::job() const { return {header_->job, strnlen(header_->job, sizeof header_->job)}; }

void Segment::setJob(const std::string& job) { job.copy(header_->job, sizeof header_->job - 1); }

size_t Segment::bytesOf(const SegmentShape& shape) {
  return roundUp(sizeof(Header)) + shape.ranks * areaBytes(shape) + roundUp(shape.arenaBytes);
}

Segment::Segment(int descriptor, const SegmentShape& shape, uint32_t rank, uintptr_t base,
                 const std::vector<uint32_t>& locals)
    : descriptor_(descriptor), shape_(shape), rank_(rank) {
  const bool isNew = base != 0;
  const size_t headerBytes = roundUp(sizeof(Header));
  const size_t arenaAt = headerBytes + shape.ranks * areaBytes(shape);
  bytes_ = bytesOf(shape);
  if (isNew && ftruncate(descriptor, static_cast<off_t>(bytes_)) != 0) {
    const int error = errno;
    close(descriptor);
    refuseSystem("The system refused " + std::to_string(bytes_) + " bytes to share", error,
                 "Join with a smaller arenaBytes, or raise the limit on file sizes (ulimit -f).");
  }
  if (!isNew && pread(descriptor, &base, sizeof base, offsetof(Header, base)) != sizeof base) base = 0;
  void* const mapped = map(base);
  if (mapped == MAP_FAILED) {
    const int error = errno;
    close(descriptor);
    refuseSystem("The memory of the world can't be mapped where all processes need it", error,
                 error == EEXIST ? "Close this process's other worlds, and drop the buffers that they allocated."
                                 : "Join with a smaller arenaBytes, or raise the limit on address space (ulimit -v).");
  }
  memory_ = static_cast<uint8_t*>(mapped);
  begin_ = base + arenaAt;
  end_ = base + bytes_;
  // New memory is zero, which is how all of it begins.
  header_ = reinterpret_cast<Header*>(memory_);
  for (uint32_t r = 0; r < shape.ranks; ++r) {
    areas_.push_back(reinterpret_cast<RankArea*>(memory_ + headerBytes + r * areaBytes(shape)));
  }
  if (!isNew) return;
  header_->base = base;
  header_->shape = shape;
  for (uint32_t r = 0; r < shape.ranks && !locals.empty(); ++r) {
    if (std::find(locals.begin(), locals.end(), r) == locals.end())
      header_->remote[r / kWordBits] |= uint64_t{1} << r % kWordBits;
  }
  header_->arena.base = memory_ + arenaAt;
  header_->arena.capacity = bytes_ - arenaAt;
  header_->lock.init();
}

/// @return MAP_FAILED with errno, EEXIST where something else is there.
void* Segment::map(uintptr_t base) const {
  constexpr int kFlags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void* const wanted = reinterpret_cast<void*>(base);
  void* const mapped = mmap(wanted, bytes_, PROT_READ | PROT_WRITE, kFlags, descriptor_, 0);
  if (mapped == wanted || mapped == MAP_FAILED) return mapped;
  // A kernel older than the flag takes the address for a hint.
  munmap(mapped, bytes_);
  errno = EEXIST;
  return MAP_FAILED;
}

Segment::~Segment() {
  leave();
  munmap(memory_, bytes_);
  close(descriptor_);
}

bool Segment::isLocal(uint32_t rank) const { return (header_->remote[rank / kWordBits] >> rank % kWordBits & 1) == 0; }

CollectiveRecord* Segment::records(uint32_t rank) {
  return reinterpret_cast<CollectiveRecord*>(reinterpret_cast<uint8_t*>(areas_[rank]) + roundUp(sizeof(RankArea)));
}

Segment::Lock::Lock(Segment& segment) : segment_(segment) { taken(segment.header_->lock.take(segment.rank_)); }

Segment::Lock::Lock(Segment& segment, std::try_to_lock_t) : segment_(segment) {
  taken(segment.header_->lock.tryTake(segment.rank_));
}

void Segment::Lock::taken(SharedLock::Taken taken) {
  isHeld_ = taken != SharedLock::Taken::no;
  if (taken != SharedLock::Taken::inherited) return;
  segment_.arena().recover();
  segment_.header_->lock.settled();
}

Segment::Lock::~Lock() {
  if (isHeld_) segment_.header_->lock.giveBack();
}

SharedArena Segment::arena() { return SharedArena(header_->arena); }
SharedDecision& Segment::decision() { return header_->decision; }
SharedBallots& Segment::ballots() { return header_->ballots; }
SharedRegistrationRecord*& Segment::registrationList(uint32_t list) { return header_->registrationLists[list]; }
SharedGenerationRecord*& Segment::generationList(uint32_t list) { return header_->generationLists[list]; }
uint32_t Segment::registrationListOf(const CollectiveId& id) {
  const uint64_t hash = (id.low ^ id.number) * 0x9e3779b97f4a7c15;
  return static_cast<uint32_t>(hash >> 32) % kRegistrationLists;
}
uint64_t Segment::nextRegistrationNumber() { return ++header_->registrationCount; }

uint8_t* Segment::allocateBuffer(size_t bytes) {
  const Lock lock(*this);
  return arena().allocate(bytes);
}

void Segment::freeBuffer(uint8_t* buffer, size_t bytes) noexcept {
  try {
    const Lock lock(*this);
    arena().free(buffer, bytes);
  } catch (const Error&) {
    // Nobody can be told, and all that is lost is a block of a world with a stopped process in it.
  }
}

void Segment::awaitPeers() {
  header_->awaiting[rank_ / kWordBits].fetchOr(uint64_t{1} << rank_ % kWordBits, order::seqCst);
}

void Segment::stopAwaitingPeers(uint32_t rank) {
  const uint64_t bit = uint64_t{1} << rank % kWordBits;
  Atomic<uint64_t>& word = header_->awaiting[rank / kWordBits];
  uint64_t seen = word.load(order::relaxed);
  while ((seen & bit) != 0 && !word.compareExchange(seen, seen & ~bit, order::acqRel, order::relaxed)) {
  }
}

void Segment::tellPeers() {
  for (uint32_t word = 0; word * kWordBits < shape_.ranks; ++word) {
    uint64_t waiting = header_->awaiting[word].load(order::seqCst);
    for (; waiting != 0; waiting &= waiting - 1) {
      const uint32_t rank = word * kWordBits + static_cast<uint32_t>(__builtin_ctzll(waiting));
      if (rank == rank_) continue;
      // One wake-up is enough; the sleeper asks again.
      stopAwaitingPeers(rank);
      area(rank).bell.fetchAdd(1, order::seqCst);
      sharedFutexWakeAll(&area(rank).bell.value);
    }
  }
}

bool Segment::isProcessGone(uint32_t rank) const { return rank != rank_ && life_.isOver(rank); }

void Segment::join() {
  life_.hold(descriptor_, rank_);
  area(rank_).pid.store(static_cast<uint32_t>(getpid()), order::relaxed);
  area(rank_).heartbeat.store(1, order::relaxed);
  area(rank_).presence.store(static_cast<uint32_t>(Presence::joined), order::release);
}

void Segment::leave() {
  if (!life_.isHeld()) return;
  auto joined = static_cast<uint32_t>(Presence::joined);
  area(rank_).presence.compareExchange(joined, static_cast<uint32_t>(Presence::left), order::acqRel, order::relaxed);
  stopAwaitingPeers(rank_);
  life_.release();
}

}  // namespace dfccl
