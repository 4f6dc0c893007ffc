#include "nccl_api/universe/meeting_room.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
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
// What has no mark by then was left by a process that was killed before it made one, or by a former version.
constexpr time_t kUnmarkedSeconds = 24 * 3600;

[[noreturn]] void refuseSystem(const std::string& what, int error) {
  throw Failure(ncclSystemError, what + ": " + std::strerror(error) + ".",
                "Ranks meet in /dev/shm: see that it is there, is not full, and is the same for all of them.");
}

/// The same for all processes of the machine. It stands still while that sleeps, as the ranks' own does.
uint64_t machineMillis() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

/// Of this user's files only: whatever else lies there by such a name is not touched, nor waited for.
bool hasExpired(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (descriptor < 0) return false;
  struct stat status {};
  uint64_t head[2] = {};
  const bool isOurs = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
  const bool hasHead = isOurs && read(descriptor, head, sizeof head) == sizeof head;
  close(descriptor);
  if (!isOurs) return false;
  if (hasHead && head[0] == MeetingTable::kMark) return head[1] < machineMillis();
  return time(nullptr) - status.st_mtime > kUnmarkedSeconds;
}

void takeExpiredAway() noexcept {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(kFolder), closedir);
  if (folder == nullptr) return;
  try {
    while (const dirent* const entry = readdir(folder.get())) {
      if (std::strncmp(entry->d_name, kPrefix, sizeof kPrefix - 1) != 0) continue;
      const std::string path = std::string(kFolder) + "/" + entry->d_name;
      if (hasExpired(path)) unlink(path.c_str());
    }
  } catch (const std::bad_alloc&) {
    // Whoever makes the next one does it.
  }
}

}  // namespace

MeetingRoom::MeetingRoom(const Name& name, uint32_t ranks_, uint32_t seconds)
    : ranks(ranks_),
      path_(std::string(kFolder) + "/" + kPrefix + name.text()),
      bytes_(sizeof(MeetingTable) + ranks * sizeof(MeetingSeat)) {
  static_assert(offsetof(MeetingTable, isOne) == 0 && offsetof(MeetingTable, expires) == sizeof(uint64_t));
  const int descriptor = open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) refuseSystem("The ranks' meeting can't be opened", errno);
  struct stat status {};
  if (fstat(descriptor, &status) == 0) {
    device_ = status.st_dev;
    file_ = status.st_ino;
  }
  // Only ever grows, so whoever comes first is not disturbed by the others.
  const int error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes_));
  void* const memory =
      error != 0 ? MAP_FAILED : mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  const int why = error != 0 ? error : errno;
  close(descriptor);
  if (memory == MAP_FAILED) refuseSystem("The system refused memory for the ranks' meeting", why);
  table_ = static_cast<MeetingTable*>(memory);
  keepFor(seconds);  // first, as others may look
  uint64_t unmarked = 0;
  if (table_->isOne.compareExchange(unmarked, MeetingTable::kMark, order::acqRel, order::relaxed)) takeExpiredAway();
}

MeetingRoom::~MeetingRoom() { munmap(table_, bytes_); }

bool MeetingRoom::decide(MeetingOutcome::Kind kind, int rank) {
  uint32_t former = MeetingOutcome::open;
  const uint32_t outcome = MeetingOutcome::of(kind, rank);
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

void MeetingRoom::takeNameAway() const {
  struct stat now {};
  if (lstat(path_.c_str(), &now) == 0 && now.st_dev == device_ && now.st_ino == file_) unlink(path_.c_str());
}

}  // namespace dfccl::nccl
