#pragma once
// Ranks in several processes of this machine, which the first one forks before it has threads: what they tell each
// other between timed loops.
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "perf/average.hpp"
#include "perf/ending.hpp"

namespace dfccl::bench {

class ProcessGroup {
 public:
  static constexpr uint32_t kMost = 64;

  /// Goes on in every process; the first one ends all of them when another has ended before its time.
  explicit ProcessGroup(uint32_t size) : size_(size) {
    if (size == 1) return;
    if (size > kMost) throw PerfError(Exit::invalidUsage, "There may be 64 processes. Ask for fewer: --processes.");
    void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    shared_ = static_cast<Shared*>(memory);
    const pid_t first = getpid();
    std::vector<pid_t> others;
    for (uint32_t i = 1; i < size; ++i) {
      const pid_t child = fork();
      if (child < 0)
        throw PerfError(Exit::internal, "The system starts no more processes. Ask for fewer: --processes.");
      if (child == 0) {
        index_ = i;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != first) _exit(1);  // it was gone before
        return;
      }
      others.push_back(child);
    }
    others_ = size - 1;
    std::thread([this, others] { watch(others); }).detach();
  }
  /// The first one ends last, so that whoever started it knows that all have.
  ~ProcessGroup() {
    while (others_ != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  uint32_t size() const { return size_; }
  uint32_t index() const { return index_; }
  bool isFirst() const { return index_ == 0; }

  void barrier() {
    if (size_ == 1) return;
    const uint32_t round = shared_->rounds.load(std::memory_order_relaxed);
    if (shared_->come.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
      shared_->come.store(0, std::memory_order_relaxed);
      shared_->rounds.store(round + 1, std::memory_order_release);
      return;
    }
    while (shared_->rounds.load(std::memory_order_acquire) == round) std::this_thread::yield();
  }
  double combine(double mine, Average average) {
    std::vector<double> all(size_, mine);
    exchange(&mine, all.data(), sizeof mine);
    return averageOf(all, average);
  }
  uint64_t sum(uint64_t mine) {
    std::vector<uint64_t> all(size_, mine);
    exchange(&mine, all.data(), sizeof mine);
    uint64_t sum = 0;
    for (const uint64_t one : all) sum += one;
    return sum;
  }
  /// What the first one has. @tparam T of at most kMessage bytes, which may be copied as such
  template <class T>
  T ofFirst(const T& mine) {
    static_assert(sizeof(T) <= kMessage && std::is_trivially_copyable_v<T>);
    std::vector<T> all(size_, mine);
    exchange(&mine, all.data(), sizeof mine);
    return all.front();
  }

 private:
  static constexpr size_t kMessage = 128;  // bytes
  struct Shared {
    std::atomic<uint32_t> come, rounds;
    alignas(64) uint8_t places[kMost][kMessage];
  };

  void exchange(const void* mine, void* all, size_t bytes) {
    if (size_ == 1) return;
    std::memcpy(shared_->places[index_], mine, bytes);
    barrier();
    for (uint32_t i = 0; i < size_; ++i) std::memcpy(static_cast<uint8_t*>(all) + i * bytes, shared_->places[i], bytes);
    barrier();
  }

  /// What goes wrong in another process it has said itself, unless a signal ended it. Libraries may have children of
  /// their own here, so each is asked for by its number.
  void watch(std::vector<pid_t> others) {
    while (others_ != 0) {
      for (uint32_t i = 0; i < others.size(); ++i) {
        int status = 0;
        if (others[i] == 0 || waitpid(others[i], &status, WNOHANG) != others[i]) continue;
        others[i] = 0;
        if (WIFSIGNALED(status)) {
          endWith(Exit::internal, "process " + std::to_string(i + 1) + " of " + std::to_string(size_) +
                                      " was ended by signal " + std::to_string(WTERMSIG(status)) + ".");
        }
        if (WEXITSTATUS(status) != 0) std::_Exit(WEXITSTATUS(status));
        --others_;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  const uint32_t size_;
  uint32_t index_ = 0;
  Shared* shared_ = nullptr;
  std::atomic<uint32_t> others_{0};  // of the first one: that are there yet
};

}  // namespace dfccl::bench
