#pragma once
// Processes that believe to be on several machines, which NCCL_HOSTID tells apart, and an id that one of them makes.
#include <sys/mman.h>

#include <atomic>
#include <chrono>

#include "simulated/beside_fake_nccl.hpp"

namespace dfccl::nccl::test {

/// An id that one process makes, and the others wait for.
class SharedId {
 public:
  SharedId() {
    shared_ =
        static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  ~SharedId() { munmap(shared_, sizeof(Shared)); }
  SharedId(const SharedId&) = delete;
  SharedId& operator=(const SharedId&) = delete;

  ncclResult_t make() const {
    const ncclResult_t result = ncclGetUniqueId(&shared_->id);
    shared_->isMade = 1;
    return result;
  }
  ncclUniqueId get() const {
    while (shared_->isMade == 0) std::this_thread::yield();
    return shared_->id;
  }
  void end() const { shared_->isOver = 1; }
  void awaitEnd() const {
    while (shared_->isOver == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  /// Processes that are to wait for each other.
  void meet(int processes) const {
    ++shared_->come;
    while (shared_->come < processes) std::this_thread::yield();
  }

 private:
  struct Shared {
    ncclUniqueId id;
    std::atomic<int> isMade, come, isOver;
  };
  Shared* shared_;
};

inline void beOnMachine(uint32_t which) { setenv("NCCL_HOSTID", which == 0 ? "one" : "another", 1); }

/// Processes with a device each, which are on two machines in turn or as `machineOf` says; rank 0 makes the id.
inline void onMachines(uint32_t processes, const std::function<uint32_t(uint32_t)>& machineOf,
                       const std::function<int(uint32_t rank, const SharedId& id)>& run) {
  const SharedId id;
  Processes children(processes, [&](uint32_t rank) {
    beOnMachine(machineOf(rank));
    cudaSetDevice(deviceOf(static_cast<int>(rank)));
    return run(rank, id);
  });
  for (uint32_t p = 0; p < processes; ++p) CHECK(children.join(p) == kFine);
}

inline uint32_t halves(uint32_t rank) { return rank / 2; }
/// All but the first one's.
inline uint32_t others(uint32_t rank) { return rank == 0 ? 0 : 1; }

}  // namespace dfccl::nccl::test
