#include "processes/flight_recorder.hpp"

#include <cstdio>
#include <exception>

#include "processes/record_flight.hpp"

namespace dfccl {

FlightRecorder::FlightRecorder(std::shared_ptr<Segment> segment, const std::string& prefix)
    : segment_(std::move(segment)),
      path_(prefix + std::to_string(segment_->rank())),
      signals_([this] { recordSignal(); }) {}

std::string FlightRecorder::recordTimeout() {
  if (hasTimedOut_.exchange(1, order::relaxed) != 0) return {};
  try {
    recordFlight(*segment_, path_);
    return "The flight record is in " + path_ + ".";
  } catch (const std::exception& error) {
    return error.what();
  }
}

void FlightRecorder::recordSignal() const {
  try {
    recordFlight(*segment_, path_);
  } catch (const std::exception& error) {
    // Nobody waits for an answer.
    std::fprintf(stderr, "dfccl: %s\n", error.what());
  }
}

}  // namespace dfccl
