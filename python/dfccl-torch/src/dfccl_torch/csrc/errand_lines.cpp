#include "errand_lines.hpp"

#include <c10/util/Logging.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

namespace dfccl_torch {
namespace {

using Clock = std::chrono::steady_clock;

// Far longer than a callback takes, or waits for Python's lock, and than ranks that issue alike are apart: callbacks
// would run side by side, or in another order, else.
constexpr auto kPatience = std::chrono::seconds(2);

// Each has a thread, and callbacks that issue what has callbacks may go on so for ever.
constexpr int kLast = 7;

thread_local int lineOfThread = 0;

void attempt(const Errand& errand) {
  try {
    errand();
  } catch (const std::exception& error) {
    LOG(ERROR) << "dfccl: what was to be done after a run has failed: " << error.what();
  }
}

/// Once in a process: whoever has one callback like that has many.
void warnOfOrder() {
  static std::atomic_flag isTold;
  if (isTold.test_and_set()) return;
  LOG(WARNING) << "dfccl: a callback of a future has waited for over " << kPatience.count()
               << " s for one before it, and is called out of order now. Other ranks may call theirs in another order: "
                  "give what callbacks issue tags (dfccl_torch.tag), or let none wait that long.";
}

}  // namespace

int ErrandLines::lineHere() { return std::min(lineOfThread, kLast); }

void ErrandLines::push(Errand errand, int which) {
  const std::lock_guard lock(mutex_);
  add(std::move(errand), which);
}

void ErrandLines::take(const Slot& slot) {
  const std::lock_guard lock(mutex_);
  orders_[slot->order].push_back(slot);
}

void ErrandLines::fill(const Slot& slot, Errand errand) {
  const std::lock_guard lock(mutex_);
  const auto order = orders_.find(slot->order);
  if (slot->isGone ||
      order == orders_.end()) {  // others have passed it, or it was taken in a process that this is a fork of
    add(std::move(errand), slot->line);
    return;
  }
  slot->errand = std::move(errand);
  slot->isFilled = true;
  slot->filledAt = Clock::now();
  pass(order->second);
  if (!slot->isGone) beginWatch();
}

void ErrandLines::abandon(const Slot& slot) {
  const std::lock_guard lock(mutex_);
  if (slot->isFilled) return;
  slot->isGone = true;
  const auto order = orders_.find(slot->order);
  if (order != orders_.end()) pass(order->second);
}

bool ErrandLines::end(std::chrono::milliseconds limit) {
  Lock lock(mutex_);
  isOver_ = true;
  for (auto& [which, line] : lines_) line.arrived.notify_all();
  over_.notify_all();
  return over_.wait_for(lock, limit, [&] { return threads_ == 0; });
}

void ErrandLines::add(Errand errand, int which) {
  if (isOver_) return leak(std::move(errand));
  Line& line = lines_[which];
  line.waiting.push_back(std::move(errand));
  if (line.runner == 0) beginRunner(line, which);
  if (line.isBusy) beginWatch();
  line.arrived.notify_one();
}

/// Those that none before is in the way of.
void ErrandLines::pass(Order& order) {
  while (!order.empty() && (order.front()->isFilled || order.front()->isGone)) {
    const Slot slot = std::move(order.front());
    order.pop_front();
    if (slot->isGone) continue;
    slot->isGone = true;
    add(std::move(slot->errand), slot->line);
  }
  // Threads come and go, and an order is one of a thread's.
  std::erase_if(orders_, [](const auto& entry) { return entry.second.empty(); });
}

void ErrandLines::beginRunner(Line& line, int which) {
  line.isBusy = false;
  ++threads_;
  std::thread([this, &line, which, runner = ++line.runner] { run(line, which, runner); }).detach();
}

void ErrandLines::beginWatch() {
  if (isWatched_) return;
  isWatched_ = true;
  ++threads_;
  std::thread([this] { watch(); }).detach();
}

void ErrandLines::gone() {
  --threads_;
  over_.notify_all();
}

void ErrandLines::run(Line& line, int which, uint64_t runner) {
  lineOfThread = which + 1;
  Lock lock(mutex_);
  while (line.runner == runner) {
    line.arrived.wait(lock, [&] { return isOver_ || !line.waiting.empty(); });
    if (isOver_) break;
    Errand errand = std::move(line.waiting.front());
    line.waiting.pop_front();
    line.isBusy = true;
    ++line.begun;
    if (!line.waiting.empty()) beginWatch();
    lock.unlock();
    attempt(errand);
    errand = nullptr;  // and with it the last reference to a tensor
    lock.lock();
    if (line.runner == runner) line.isBusy = false;
  }
  if (isOver_) {
    for (Errand& errand : line.waiting) leak(std::move(errand));
    line.waiting.clear();
  }
  gone();
}

void ErrandLines::watch() {
  Lock lock(mutex_);
  do {
    over_.wait_for(lock, kPatience, [&] { return isOver_; });
  } while (!isOver_ && lookAfter());
  isWatched_ = false;
  gone();
}

/// Lets pass what has waited too long. @return whether something may still have to.
bool ErrandLines::lookAfter() {
  bool isLate = false;
  const auto latest = Clock::now() - kPatience;
  for (auto& [key, order] : orders_) {
    for (const Slot& slot : order) {
      if (!slot->isFilled || slot->isGone) continue;
      isLate = true;
      if (slot->filledAt > latest) continue;
      warnOfOrder();
      slot->isGone = true;
      add(std::move(slot->errand), slot->line);
    }
  }
  for (auto& [which, line] : lines_) {
    if (!line.isBusy || line.waiting.empty()) continue;
    isLate = true;
    if (line.seen == line.begun) {
      warnOfOrder();
      beginRunner(line, which);
    }
    line.seen = line.begun;
  }
  return isLate;
}

/// What it holds is never given back: that might take Python's lock, which ends a thread that isn't Python's own while
/// the interpreter ends.
void ErrandLines::leak(Errand errand) { new Errand(std::move(errand)); }

}  // namespace dfccl_torch
