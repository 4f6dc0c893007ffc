#pragma once
#include <cstdint>

namespace dfccl {

/// How a rank of the world is doing, as the others see it.
enum class Presence : uint32_t {
  absent,  // not there yet
  joined,
  left,  // it closed its world
  died,  // its process ended without that
  mute,  // it lives, but has given no sign for longer than the limit: stopped, or starved
};
const char* nameOf(Presence presence);

}  // namespace dfccl
