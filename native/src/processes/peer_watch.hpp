#pragma once
// Watches the other processes of a world from a thread of its own: whose process is gone, who has given no sign of life
// for too long, and whether somebody wants everybody's attention.
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "processes/segment.hpp"
#include "processes/silences.hpp"

namespace dfccl {

/// The same clock in all processes.
uint64_t nowMillis();

class PeerWatch {
 public:
  /// @param muteMillis a process without a heartbeat for so long, while this one ran, is given up.
  /// The two that follow wait for nobody: meanwhile this process gives no sign of life.
  /// @param check called on the watch's thread whenever another rank is gone, and after every alarm; again soon, where
  /// it says that it couldn't.
  /// @param note called at every look.
  PeerWatch(std::shared_ptr<Segment> segment, uint32_t muteMillis, std::function<bool()> check,
            std::function<void()> note);
  /// Waits for a check under way.
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  /// All processes of the world on this machine check soon.
  static void alarm(Segment& segment);
  /// Only one rank's.
  static void alarm(Segment& segment, uint32_t rank);

 private:
  void run();
  bool look();

  std::shared_ptr<Segment> segment_;
  const uint32_t muteMillis_;
  const uint32_t periodMillis_;
  std::function<bool()> check_;
  std::function<void()> note_;
  Silences silences_;
  Atomic<uint32_t> stopping_;
  std::thread thread_;
};

}  // namespace dfccl
