#include "world/group.hpp"

#include <string>

#include "error.hpp"

namespace dfccl {

void refuseSecondRegistration(uint32_t id, uint32_t rank) {
  throw Error(dfcclAlreadyRegistered,
              "Rank " + std::to_string(rank) + " has registered collective " + std::to_string(id) + " already.",
              "Unregister it first, or use another id.", {{"id", std::to_string(id)}, {"rank", std::to_string(rank)}});
}

}  // namespace dfccl
