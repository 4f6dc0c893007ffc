#pragma once
#include <cstdint>
#include <span>

namespace dfccl {

/// How a rank leaves a registration.
enum class Departure : uint8_t {
  forGood,  // what it registers next under the id is another registration
  // It has forgotten a signature, and registers it again when it is to be used again. The others may not have forgotten
  // it, so it comes back into the same registration, to the run behind its last one.
  forNow,
};

/// Whether those who left a registration for now can do without it: nobody has had a run that another one is still to
/// have, so another registration serves them as well, from its first run on. @param runs of every member, whether it is
/// gone for good, for now, or has never come. @pre nobody is in the registration.
inline bool areEven(std::span<const uint64_t> runs) {
  for (const uint64_t each : runs) {
    if (each != runs.front()) return false;
  }
  return true;
}

}  // namespace dfccl
