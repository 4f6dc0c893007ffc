#pragma once
// How an exploration went: what happened last, and the first thing that went wrong.
#include <array>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

namespace dfccl::test {

struct Verdict {
  bool ok = true;
  std::string why;   // empty where ok
  std::string tail;  // the last events before it
  uint64_t picks = 0, completions = 0, preemptions = 0, launches = 0, contextSaves = 0;
};

class Report {
 public:
  static constexpr uint32_t kNothing = 0xffffffff;

  Verdict verdict;

  /// @param detail block, collective, or nothing.
  void note(const char* what, uint32_t rank, uint32_t detail = kNothing) {
    events_[eventCount_++ % events_.size()] = {what, rank, detail};
  }
  /// The application goes on: it has acted, or something of its own is over.
  void noteProgress() { progressAt_ = verdict.picks; }
  /// Picks since then.
  uint64_t quietPicks() const { return verdict.picks - progressAt_; }

  void fail(const std::string& why) {
    if (!verdict.ok) return;
    verdict.ok = false;
    verdict.why = why;
  }

  std::string describeTail() const {
    std::ostringstream out;
    const size_t first = eventCount_ > events_.size() ? eventCount_ - events_.size() : 0;
    for (size_t i = first; i < eventCount_; ++i) {
      const Event& e = events_[i % events_.size()];
      out << (i == first ? " " : ", ") << e.what << " r" << e.rank;
      if (e.detail != kNothing) out << '.' << e.detail;
    }
    return out.str();
  }

 private:
  struct Event {
    const char* what;
    uint32_t rank, detail;
  };

  uint64_t progressAt_ = 0;
  std::array<Event, 10> events_{};
  size_t eventCount_ = 0;
};

}  // namespace dfccl::test
