#pragma once
// The worlds that this process is in, and which of them a new communicator becomes a group of.
#include <memory>
#include <vector>

#include "nccl_api/meeting.hpp"
#include "nccl_api/universe.hpp"

namespace dfccl::nccl {

/// A communicator's ranks in a world.
struct Placed {
  std::shared_ptr<Universe> universe;
  std::vector<int> ranks;  // of the universe, in the communicator's order
};

class Universes {
 public:
  /// This process's; another one in a process that was forked off.
  static Universes& here();

  /// What this process tells of itself, and holds until the communicator is placed.
  struct Told {
    Arrival arrival;
    std::vector<std::shared_ptr<Universe>> held;
  };
  Told tell();
  /// Finds or makes the world. @param told as tell() gave it. @param all what the ranks have told. @param rank one's
  /// own. @throws Failure ncclInvalidUsage where some ranks share a process and others don't.
  Placed place(const Name& name, const Told& told, const std::vector<Arrival>& all, int rank);

 private:
  struct Making;

  Placed inProcess(const Name& name, const Told& told, const std::vector<Arrival>& all);
  Placed ofProcesses(const Name& name, const Told& told, const std::vector<Arrival>& all, int rank);
  std::shared_ptr<Universe> makeOnce(const Name& name, const std::vector<Arrival>& all);
  void add(const std::shared_ptr<Universe>& universe);
  void dropUnused();

  struct Tables;
  Universes();
  ~Universes() = delete;  // threads may need it while the process ends
  Tables* const tables_;
};

}  // namespace dfccl::nccl
