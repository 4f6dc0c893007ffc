#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "base/atomics.hpp"
#include "processes/segment.hpp"
#include "processes/signal_watch.hpp"

namespace dfccl {

/// Writes this process's flight record, at PREFIX followed by its rank's number: when a run has waited for too long for
/// the first time, and whenever the process gets SIGUSR2. A record that can't be written is told of, and changes
/// nothing else.
class FlightRecorder {
 public:
  FlightRecorder(std::shared_ptr<Segment> segment, const std::string& prefix);

  /// @return where the record is, or why there is none, in sentences; "" but for the world's first timeout.
  std::string recordTimeout();

 private:
  void recordSignal() const;

  const std::shared_ptr<Segment> segment_;
  const std::string path_;
  Atomic<uint32_t> hasTimedOut_;
  SignalWatch signals_;  // last: its thread uses everything above
};

}  // namespace dfccl
