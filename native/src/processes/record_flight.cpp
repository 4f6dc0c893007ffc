#include "processes/record_flight.hpp"

#include <chrono>

#include "processes/flight_record.hpp"
#include "processes/inspect.hpp"
#include "processes/write_flight_record.hpp"

namespace dfccl {

void recordFlight(Segment& segment, const std::string& path) {
  using namespace std::chrono;
  const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  writeFlightRecord(path, flightRecordOf(inspectWorld(segment), segment.rank(), now));
}

}  // namespace dfccl
