#pragma once
// The worlds that this process is in, and which of them a new communicator becomes a group of.
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "nccl_api/universe/arrivals.hpp"
#include "nccl_api/universe/universe.hpp"

namespace dfccl::nccl {

/// A communicator's ranks in a world.
struct Placed {
  std::shared_ptr<Universe> universe;
  std::vector<int> ranks;  // of the universe, in the communicator's order
  bool isNew = false;      // it was made for this communicator
};

bool areOnOneMachine(const std::vector<Arrival>& all);

class Universes {
 public:
  /// This process's.
  static Universes& here();

  /// What this process tells of itself, and holds until the communicator is placed. Of worlds of processes, those that
  /// it is in with this device.
  struct Told {
    Arrival arrival;
    std::vector<std::shared_ptr<Universe>> held;
  };
  Told tell(int device);
  /// Whether such ranks can be in a world: of one machine, and all of one process, or each of one of its own.
  static bool canServe(const std::vector<Arrival>& all);
  /// Finds or makes the world. @param told as tell() gave it. @param all what the ranks have told. @param rank one's
  /// own. @throws Failure ncclInvalidUsage where they can't.
  Placed place(const Name& name, const Told& told, const std::vector<Arrival>& all, int rank);

 private:
  /// A world of this process's ranks, which whoever comes first makes for all. What he can't make, the others don't
  /// try: a rank with a communicator would wait for one without.
  struct Making {
    std::mutex mutex;
    std::shared_ptr<Universe> universe;
    std::exception_ptr failure;
    size_t come = 0;  // under Universes::mutex_
  };

  Universes();
  ~Universes() = delete;  // threads may need it while the process ends
  std::shared_ptr<Universe> makeOnce(uint64_t id, const std::vector<Arrival>& all);
  std::shared_ptr<Universe> join(uint64_t id, const std::vector<Arrival>& all, int rank);
  void add(const std::shared_ptr<Universe>& universe);
  void dropUnused();

  const uint64_t process_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Universe>> open_;  // the newest in front
  std::map<uint64_t, std::shared_ptr<Making>> making_;
};

}  // namespace dfccl::nccl
