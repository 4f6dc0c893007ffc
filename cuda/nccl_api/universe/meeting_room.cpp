#include "nccl_api/universe/meeting_room.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "nccl_api/universe/failure.hpp"
#include "os/futex.hpp"

namespace dfccl::nccl {
namespace {

constexpr char kFolder[] = "/dev/shm", kPrefix[] = "dfccl-nccl-";
// Behind the last rank's own time, for it to see that.
constexpr uint64_t kGraceMillis = 60'000;

[[noreturn]] void refuseSystem(const std::string& what, int error) {
  throw Failure(ncclSystemError, what + ": " + std::strerror(error) + ".",
                "Ranks meet in /dev/shm: see that it is there, is not full, and is the same for all of them.");
}

/// The same for all processes of the machine, and it goes on while that sleeps.
uint64_t machineMillis() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

bool hasExpired(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;  // another user's, or gone
  uint64_t head[2] = {};
  const ssize_t got = read(descriptor, head, sizeof head);
  close(descriptor);
  return got == sizeof head && head[0] == MeetingTable::kMark && head[1] < machineMillis();
}

void takeExpiredAway() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(kFolder), closedir);
  if (folder == nullptr) return;
  while (const dirent* const entry = readdir(folder.get())) {
    if (std::strncmp(entry->d_name, kPrefix, sizeof kPrefix - 1) != 0) continue;
    const std::string path = std::string(kFolder) + "/" + entry->d_name;
    if (hasExpired(path)) unlink(path.c_str());
  }
}

}  // namespace

MeetingRoom::MeetingRoom(const Name& name, uint32_t ranks_)
    : ranks(ranks_),
      path_(std::string(kFolder) + "/" + kPrefix + name.text()),
      bytes_(sizeof(MeetingTable) + ranks * sizeof(MeetingSeat)) {
  static_assert(offsetof(MeetingTable, isOne) == 0 && offsetof(MeetingTable, expires) == sizeof(uint64_t));
  const int descriptor = open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) refuseSystem("The ranks' meeting can't be opened", errno);
  // Only ever grows, so whoever comes first is not disturbed by the others.
  const int error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes_));
  void* const memory =
      error != 0 ? MAP_FAILED : mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  const int why = error != 0 ? error : errno;
  close(descriptor);
  if (memory == MAP_FAILED) refuseSystem("The system refused memory for the ranks' meeting", why);
  table_ = static_cast<MeetingTable*>(memory);
  keepFor(joinSeconds());  // first, as others may look
  uint64_t unmarked = 0;
  if (table_->isOne.compareExchange(unmarked, MeetingTable::kMark, order::acqRel, order::relaxed)) takeExpiredAway();
}

MeetingRoom::~MeetingRoom() { munmap(table_, bytes_); }

bool MeetingRoom::decide(uint32_t outcome) {
  uint32_t former = MeetingOutcome::open;
  if (!table_->outcome.compareExchange(former, outcome, order::seqCst, order::acquire)) return false;
  sharedFutexWakeAll(&table_->outcome.value);
  return true;
}

void MeetingRoom::keepFor(uint32_t seconds) {
  const uint64_t until = machineMillis() + uint64_t{seconds} * 1000 + kGraceMillis;
  uint64_t before = table_->expires.load(order::relaxed);
  while (before < until && !table_->expires.compareExchange(before, until, order::relaxed, order::relaxed)) {
  }
}

bool MeetingRoom::isLastToCome() {
  if (table_->come.fetchAdd(1, order::acqRel) + 1 != ranks) return false;
  takeNameAway();
  return true;
}

void MeetingRoom::takeNameAway() const { unlink(path_.c_str()); }

}  // namespace dfccl::nccl
