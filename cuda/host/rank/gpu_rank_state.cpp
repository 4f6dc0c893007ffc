// What a rank's daemon and the caller's streams wait for, in words: for whoever finds a program that hangs.
#include <algorithm>

#include "host/rank/gpu_rank.hpp"

namespace dfccl::gpu {
namespace {

void add(std::string& text, const char* name, uint64_t value) {
  text.append(" ").append(name).append(" ").append(std::to_string(value));
}

}  // namespace

std::string RankStreams::describe() const {
  std::string text;
  const uint32_t count = lineCount_.load(order::acquire);
  for (uint32_t line = 0; line < count; ++line) {
    const uint32_t asked = lines_[line].asked.load(order::acquire), rung = rung_[line].load(order::acquire),
                   opened = pending_.opened[line].load(order::acquire);
    if (asked == rung && asked == opened) continue;
    add(text, "\n  stream's line", line);
    add(text, "runs", asked);
    add(text, "come to", rung);
    add(text, "taken", opened);
  }
  return text;
}

std::string GpuRank::describe() const {
  std::string text;
  const Residency& residency = memory_->residency;
  text.append(isLost() ? "\n  daemon lost" : residency.isResident() ? "\n  daemon resident" : "\n  daemon out");
  if (report_->leaving.load(order::seqCst) != 0) text.append(" leaving");
  add(text, "launches", launches_.load(order::relaxed));
  add(text, "begun", report_->entered.load(order::seqCst));
  add(text, "accepted", launched_.load(order::relaxed));
  const SubmissionRingHeader& ring = *memory_->submissions.header;
  add(text, "submitted", ring.tail.load(order::acquire));
  add(text, "read", ring.head.load(order::acquire));
  add(text, "requests left", requests_.areLeft());
  add(text, "intents", waits_->awaited()->intents.load(order::seqCst));
  text.append(streams_.describe());
  for (uint32_t index = 0; index < limits().collectives; ++index) {
    const uint64_t issued = queues_->issuedOf(index);
    const uint32_t awaited = place_.number() == DeviceWaits::kNoPlace ? 0 : waits_->awaitedOf(place_.number(), index);
    const uint64_t over = queues_->overOf(index);
    if (issued == 0 || (issued == over && awaited == 0)) continue;
    add(text, "\n  collective", index);
    add(text, "runs", issued);
    add(text, "over", over);
    add(text, "awaited", awaited);
    const PostedProgress& posted = memory_->posted[index];
    constexpr uint64_t kCount = (uint64_t{1} << PostedProgress::kShift) - 1;
    add(text, "posted: submitted", posted.submitted.load(order::acquire) & kCount);
    add(text, "finished", posted.finished.load(order::acquire) & kCount);
  }
  for (uint32_t block = 0; block < limits().grid; ++block) {
    const BlockCounters& c = posted_.blocks[block];
    add(text, "\n  block", block);
    add(text, "visits", c.visits.read());
    add(text, "stuck", c.stuckVisits.read());
    add(text, "taken", c.tasksTaken.read());
    add(text, "completed", c.tasksCompleted.read());
  }
  return text + "\n";
}

}  // namespace dfccl::gpu
