#pragma once
#include <cstdint>
#include <string>

#include "processes/inspect.hpp"

namespace dfccl {

/// The runs of one rank of a world, as PyTorch's flight recorder dumps them (version 2.10): a line of JSON. There, all
/// ranks of a group must issue the same sequence; here that holds of each collective's runs alone, so each collective
/// is a group, and its runs are the sequence. `missing_ranks` isn't PyTorch's, which reads past it: members that
/// haven't submitted this run.
/// @param nowMillis since 1970.
/// @see https://docs.pytorch.org/tutorials/prototype/flight_recorder_tutorial.html
std::string flightRecordOf(const WorldStatus& world, uint32_t rank, int64_t nowMillis);

}  // namespace dfccl
