#pragma once
// A world as C callers have it: who has opened which rank, and who waits.
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "c_api/handle_table.hpp"
#include "c_api/receivers.hpp"
#include "dfccl/dfccl.h"
#include "opening/open_backend.hpp"
#include "processes/flight_recorder.hpp"
#include "world/defaults.hpp"

namespace dfccl::c_api {

class OpenWorld {
 public:
  explicit OpenWorld(const WorldOptions& options)
      : backend_(openBackend(options)), isOpen_(options.ranks, false), waiting_(options.ranks) {
    backend_->lookInBackground([this] { return receivers_.lookInBackground(); });
  }

  Backend& backend() { return *backend_; }

  /// @throws Error dfcclInvalidArgument, dfcclInUse
  void open(uint32_t rank);
  void close(uint32_t rank);
  uint32_t openRanks();

  /// Memory for a rank's buffers, noted until it is freed. @throws Error dfcclOutOfMemory
  void* allocate(uint32_t rank, size_t bytes);
  /// @throws Error dfcclInvalidArgument for what allocate() didn't give, or has back, or of another size.
  void free(uint32_t rank, void* memory, size_t bytes);

  /// From now on, where the ranks are processes. @param prefix as FlightRecorder takes it.
  void recordFlights(const std::string& prefix);
  /// @return as FlightRecorder::recordTimeout(); "" where nothing is recorded.
  std::string recordTimeout() { return recorder_ ? recorder_->recordTimeout() : std::string(); }

  /// This process's ranks, as receivers from anybody.
  Receivers& receivers() { return receivers_; }

  /// A thread begins (+1) or ends (-1) to wait for something on a rank.
  void noteWaiting(uint32_t rank, int change) {
    waiting_[rank].fetchAdd(static_cast<uint32_t>(change), order::relaxed);
  }
  void noteWaiter(int change) { waiters_.fetchAdd(static_cast<uint32_t>(change), order::relaxed); }
  uint32_t waiters() const { return waiters_.load(order::relaxed); }
  bool isWaitedFor(uint32_t rank) const { return waiting_[rank].load(order::relaxed) != 0; }

 private:
  Receivers receivers_;
  std::unique_ptr<Backend> backend_;  // behind what its threads use
  std::optional<FlightRecorder> recorder_;
  std::mutex mutex_;
  std::vector<bool> isOpen_;
  std::map<void*, size_t> allocated_;      // bytes
  std::vector<Atomic<uint32_t>> waiting_;  // [rank]: threads
  alignas(64) Atomic<uint32_t> waiters_;   // threads
};

inline constexpr uint32_t kMaxWorlds = 256;
using WorldTable = HandleTable<std::shared_ptr<OpenWorld>, kMaxWorlds, 0>;
WorldTable& worlds();

/// @throws Error dfcclInvalidArgument
WorldOptions readConfig(const dfcclWorldConfig_t* config, Span span);

/// The process's default world, made if nobody has it open.
std::shared_ptr<OpenWorld> defaultWorld();

}  // namespace dfccl::c_api
