#pragma once
// A thread that looks for completions on behalf of those who don't: callbacks while nobody waits, and JavaScript that
// sleeps. Beside it, one that gives device memory back, which may take as long as a stream of the device waits: until
// then no callback has to wait with it.
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "host/rank/gpu_rank.hpp"
#include "os/bell.hpp"

namespace dfccl::gpu {

class CompletionWatcher {
 public:
  CompletionWatcher(Bell& bell, std::vector<std::unique_ptr<GpuRank>>& ranks);
  ~CompletionWatcher() { stop(); }
  CompletionWatcher(const CompletionWatcher&) = delete;
  CompletionWatcher& operator=(const CompletionWatcher&) = delete;

  void start();
  /// Nothing is called and nothing freed by it afterwards.
  void stop();

  /// To be called once for each rank that is lost, soon, while anything is in flight. It may throw an Error: then it is
  /// called again. @pre start() hasn't been called
  void setLossHandler(std::function<void(uint32_t rank)> handler) { lossHandler_ = std::move(handler); }
  void setWaker(std::function<void(uint32_t rank)> waker);
  void deliverInBackground(uint32_t rank) { delivers_[rank].store(1, order::release); }
  /// Frees it soon, or now if the thread has been stopped.
  void freeLater(int device, void* memory);

 private:
  struct Garbage {
    int device;
    void* memory;
  };

  void run();
  void freeAsItComes();
  bool lookAt(GpuRank& rank);
  void lookForLoss(const GpuRank& rank);
  bool anyInFlight() const;
  /// @param isEnd nothing runs any more. @return false: some of it has to wait.
  bool freeGarbage(bool isEnd);
  bool tryToFree(const Garbage& piece) const;

  Bell& bell_;
  std::vector<std::unique_ptr<GpuRank>>& ranks_;
  std::vector<Atomic<uint32_t>> delivers_;  // [rank]
  std::vector<bool> isLossKnown_;           // [rank]
  std::function<void(uint32_t)> lossHandler_;
  std::mutex wakerMutex_;
  std::function<void(uint32_t)> waker_;
  std::mutex garbageMutex_;
  std::condition_variable garbageCame_;
  std::vector<Garbage> garbage_;
  Atomic<uint32_t> stopping_;
  std::thread thread_;
  std::thread freer_;
};

}  // namespace dfccl::gpu
