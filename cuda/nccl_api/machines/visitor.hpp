#pragma once
// A rank on another machine, at this machine's meeting: what it asks for, and what it is told.
#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "nccl_api/machines/kept_from_children.hpp"
#include "nccl_api/machines/request.hpp"

namespace dfccl::nccl {

class Visitor {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param seconds that it may wait for the others
  Visitor(Descriptor connection, uint32_t seconds);

  int descriptor() const { return connection_.get(); }
  /// What there is to be polled for.
  short events() const;
  bool isAtMeeting() const { return meeting_.has_value(); }
  /// Goes on as far as that is possible now. @param isKnown whether this process has made an id of that name
  /// @return false: it is done with.
  bool step(const std::function<bool(const Name&)>& isKnown);
  /// It is done with before it has its answer.
  void giveUp() const;

 private:
  bool hear();
  void come(const std::function<bool(const Name&)>& isKnown);
  bool attend();
  bool isThereStill() const;
  void answer(int32_t result, const void* what, size_t bytes);
  void refuse(const Failure& failure);
  bool say();
  bool part();

  KeptFromChildren connection_;
  uint32_t seconds_;
  Clock::time_point until_;  // it has to be done with what it does
  Request request_{};
  size_t heard_ = 0;  // bytes of it
  std::optional<Meeting> meeting_;
  std::vector<uint8_t> answer_;
  size_t said_ = 0;  // bytes of that
};

}  // namespace dfccl::nccl
