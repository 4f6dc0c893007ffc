#pragma once
#include <cstdint>

namespace dfccl::c_api {

/// The looks in vain of a thread that waits, and what it does after each: at first it looks on, then it yields now and
/// then, and in the end it rests.
class IdleLooks {
 public:
  enum class Then : uint8_t { look, yield, rest };

  /// @param looks between two yields; as many as suit those who wait just now, so they may change from look to look.
  /// @param clock ticks, asked only where they matter. @param restAfter ticks without a success
  template <class Clock>
  Then next(uint32_t looks, const Clock& clock, uint64_t restAfter) {
    if (count_++ == 0) since_ = clock();
    if (count_ % looks != 0) return Then::look;
    return clock() - since_ > restAfter ? Then::rest : Then::yield;
  }
  /// A look has found something.
  void reset() { count_ = 0; }

 private:
  uint32_t count_ = 0;
  uint64_t since_ = 0;  // the first of them
};

}  // namespace dfccl::c_api
