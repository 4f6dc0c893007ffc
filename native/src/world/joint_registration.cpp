#include "world/joint_registration.hpp"

#include <string>

#include "base/error.hpp"

namespace dfccl {

void refuseSecondRegistration(const CollectiveId& id, uint32_t rank) {
  throw Error(dfcclAlreadyRegistered,
              "Rank " + std::to_string(rank) + " has registered collective " + id.text() + " already.",
              "Unregister it first, or use another id.", {{"id", id.text()}, {"rank", std::to_string(rank)}});
}

}  // namespace dfccl
