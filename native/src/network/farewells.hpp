#pragma once
// How two processes part, so that nothing is on its way any more when one ends: its system would throw it away. Each
// says goodbye and how many slots it sent; the other answers once all of them have come, for a goodbye may overtake
// them.
#include <cstdint>
#include <vector>

#include "network/links.hpp"

namespace dfccl {

class Farewells {
 public:
  explicit Farewells(Links& links) : links_(links), farewells_(links.ranks()) {}

  /// To every rank, once. Nothing but notes is sent to it from here on.
  void say();
  /// @param slots that this rank sent, as it says.
  void heardGoodbye(uint32_t from, uint64_t slots);
  void heardAnswer(uint32_t from) { farewells_[from].isAnswered = true; }
  /// Answers each goodbye whose slots have all come, once.
  void answer();
  /// Whether every rank whose link is up has answered and, where it asked, been answered.
  bool areOver() const;

 private:
  struct Farewell {
    bool isSaid = false;       // our goodbye
    bool isAnswered = false;   // by them
    bool isAsked = false;      // their goodbye
    bool isGiven = false;      // our answer
    uint64_t slotsToCome = 0;  // as they say
  };

  Links& links_;
  std::vector<Farewell> farewells_;  // [rank]
};

}  // namespace dfccl
