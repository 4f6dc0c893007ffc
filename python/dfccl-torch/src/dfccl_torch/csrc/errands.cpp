#include "errands.hpp"

#include "errand_lines.hpp"
#include "per_process.hpp"

namespace dfccl_torch {
namespace {

PerProcess<ErrandLines> lines;

}  // namespace

void runSoon(Errand errand) { lines.get().push(std::move(errand), 0); }

ErrandPlace::ErrandPlace(const std::optional<ErrandOrder>& order) : line_(ErrandLines::lineHere()) {
  if (!order) return;
  slot_ = std::make_shared<Slot>();
  slot_->order = *order;
  slot_->line = line_;
  lines.get().take(slot_);
}

ErrandPlace::~ErrandPlace() { pass(); }

void ErrandPlace::pass() const {
  if (slot_) lines.get().abandon(slot_);
}

void ErrandPlace::fill(Errand errand) {
  if (slot_) return lines.get().fill(slot_, std::move(errand));
  runBeside(std::move(errand));
}

void ErrandPlace::runBeside(Errand errand) const { lines.get().push(std::move(errand), line_); }

bool endErrands(std::chrono::milliseconds limit) { return lines.get().end(limit); }

}  // namespace dfccl_torch
