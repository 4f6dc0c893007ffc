#include "processes/inspect.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>

#include <cctype>
#include <set>

#include "base/error.hpp"
#include "processes/peer_watch.hpp"
#include "processes/shared_registration.hpp"
#include "world/collective_name.hpp"

namespace dfccl {
namespace {

std::vector<std::string> entriesOf(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const directory = opendir(folder.c_str());
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory)) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0) names.push_back(entry->d_name);
  }
  closedir(directory);
  return names;
}

bool isSegment(const std::string& link) {
  char target[32];
  const ssize_t length = readlink(link.c_str(), target, sizeof target);
  return length > 0 && std::string(target, static_cast<size_t>(length)) == "/memfd:dfccl (deleted)";
}

CollectiveStatus statusOf(Segment& segment, const SharedRegistrationRecord& record, uint64_t now) {
  CollectiveStatus status{record.shared.id,      record.collective,          record.type,
                          record.count,          record.shared.isPoisoned(), {},
                          nameOf(specOf(record))};
  for (uint32_t m = 0; m < record.shared.members; ++m) {
    const SharedMember& member = record.members[m];
    const uint32_t state = member.state.load(order::acquire);
    MemberStatus one{record.ranks[m],
                     state == SharedMember::joined,
                     state == SharedMember::left || state == SharedMember::leaving,
                     0,
                     0,
                     0};
    if (state == SharedMember::away) {
      one.isRegistered = true;
      one.submittedRuns = one.finishedRuns = member.finishedRuns.load(order::relaxed);
    } else if (one.isRegistered) {
      const CollectiveRecord& own = segment.records(one.rank)[member.index];
      one.submittedRuns = own.submittedRuns.load(order::acquire);
      one.finishedRuns = own.finishedRuns.load(order::acquire);
      const uint64_t since = member.waitingSinceMillis.load(order::relaxed);
      if (since != 0 && since < now && one.submittedRuns > one.finishedRuns) one.waitingMillis = now - since;
    } else if (one.hasLeft) {
      one.submittedRuns = one.finishedRuns = member.finishedRuns.load(order::relaxed);
    }
    status.members.push_back(one);
  }
  return status;
}

}  // namespace

WorldStatus inspectWorld(Segment& segment) {
  WorldStatus status{segment.job(), segment.shape().version, 0, {}, {}};
  for (uint32_t r = 0; r < segment.ranks(); ++r) {
    status.ranks.push_back({r, segment.area(r).pid.load(order::relaxed), segment.presenceOf(r)});
  }
  const uint64_t now = nowMillis();
  const Segment::Lock lock(segment);
  status.memoryBytes = segment.arena().usedBytes();
  std::vector<const SharedRegistrationRecord*> registrations;
  for (uint32_t list = 0; list < Segment::kRegistrationLists; ++list) {
    for (const SharedRegistrationRecord* r = segment.registrationList(list); r != nullptr; r = r->next)
      registrations.push_back(r);
  }
  std::sort(registrations.begin(), registrations.end(),
            [](const auto* a, const auto* b) { return a->number < b->number; });
  for (const SharedRegistrationRecord* registration : registrations)
    status.collectives.push_back(statusOf(segment, *registration, now));
  return status;
}

std::vector<WorldStatus> inspectWorlds() {
  std::vector<WorldStatus> worlds;
  std::set<ino_t> seen;
  for (const std::string& process : entriesOf("/proc")) {
    const std::string folder = "/proc/" + process + "/fd";
    for (const std::string& descriptor : entriesOf(folder)) {
      const std::string link = folder + "/" + descriptor;
      struct stat file {};
      if (!isSegment(link) || stat(link.c_str(), &file) != 0 || !seen.insert(file.st_ino).second) continue;
      const int opened = open(link.c_str(), O_RDWR | O_CLOEXEC);
      if (opened < 0) continue;
      const std::shared_ptr<Segment> segment = Segment::observe(opened);
      if (segment) worlds.push_back(inspectWorld(*segment));
    }
  }
  return worlds;
}

}  // namespace dfccl
