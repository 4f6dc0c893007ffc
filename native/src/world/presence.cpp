#include "world/presence.hpp"

namespace dfccl {

const char* nameOf(Presence presence) {
  switch (presence) {
    case Presence::absent:
      return "absent";
    case Presence::joined:
      return "joined";
    case Presence::left:
      return "left";
    case Presence::died:
      return "died";
    case Presence::mute:
      return "mute";
  }
  return "unknown";
}

}  // namespace dfccl
