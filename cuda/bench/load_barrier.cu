// What begins beside a kernel that stays, when another thread has launched a kernel whose module had to be loaded:
// that one waits until the device is idle, and behind it comes nothing any more, of any stream, if the kernel that
// stays was launched meanwhile. Each round in a process of its own, with nothing loaded.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "bench/harness.hpp"
#include "bench/late_module.hpp"
#include "bench/waiting_stream.hpp"

namespace dfccl::gpu::bench {
namespace {

constexpr size_t kStores = 4;
constexpr unsigned kAlarmSeconds = 20;
// Until something is said to be stuck, or blocked.
constexpr uint64_t kSoonNanos = 50'000'000, kLongNanos = 2'000'000'000;

__global__ void stayKernel(volatile uint32_t* hasBegun, const volatile uint32_t* end) {
  *hasBegun = 1;
  while (*end == 0) {
  }
}
__global__ void setKernel(volatile uint32_t* word) { *word = 1; }

/// When the second kernel that stays is launched.
enum class Launched { inBetween, afterwards, loadedBefore };

struct Round {
  const char* streams;  // in which the module's kernel is launched; all others are non-blocking ones
  Launched launched;
};

const char* nameOf(Launched launched) {
  switch (launched) {
    case Launched::inBetween:
      return "while the other launch loads its module";
    case Launched::afterwards:
      return "when that launch has returned";
    default:
      return "with that module loaded before";
  }
}

bool comes(const std::function<bool()>& condition, uint64_t nanos) {
  const uint64_t begin = nowNanos();
  while (!condition()) {
    if (nowNanos() - begin > nanos) return false;
    usleep(100);
  }
  return true;
}

/// A call of another thread's.
class OtherThread {
 public:
  explicit OtherThread(std::function<void()> call)
      : thread_([this, call = std::move(call)] {
          cudaSetDevice(0);
          call();
          hasReturned_ = true;
        }) {}
  bool isBlocked() const {
    return !comes([this] { return hasReturned_.load(); }, kSoonNanos);
  }
  void join() { thread_.join(); }

 private:
  std::atomic<bool> hasReturned_{false};
  std::thread thread_;
};

/// What is looked at: a word for each that becomes 1.
struct Words {
  volatile uint32_t *const all = hostWords(7 + kStores), *const firstBegan = all, *const firstEnd = all + 1,
                           *const secondBegan = all + 2, *const secondEnd = all + 3, *const late = all + 4,
                           *const other = all + 5, *const warm = all + 6, *const stores = all + 7;

  std::string found() const {
    uint32_t stored = 0;
    for (size_t i = 0; i < kStores; ++i) stored += stores[i];
    return "{\"kernelOfModule\":" + std::to_string(*late) + ",\"otherKernel\":" + std::to_string(*other) +
           ",\"stores\":" + std::to_string(stored) + "}";
  }
  bool haveAllCome() const {
    bool have = *late != 0 && *other != 0;
    for (size_t i = 0; i < kStores; ++i) have &= stores[i] != 0;
    return have;
  }
};

cudaStream_t newStream() {
  cudaStream_t stream = nullptr;
  DFCCL_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

/// Everything but the module is loaded, and no stream of what follows has been used.
void warmUp(const Words& words, Launched launched) {
  const cudaStream_t stream = newStream();
  *words.warm = 1;
  stayKernel<<<1, 1, 0, stream>>>(words.warm, words.warm);
  setKernel<<<1, 1, 0, stream>>>(words.warm);
  letStore(stream, words.warm);
  if (launched == Launched::loadedBefore) launchOfLateModule(words.warm, stream);
  DFCCL_CUDA(cudaDeviceSynchronize());
}

void probe(const Round& round) {
  // Not to be mistaken for streams that share a hardware queue.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
  DFCCL_CUDA(cudaSetDevice(0));
  const Words words;
  warmUp(words, round.launched);
  const bool isLegacy = std::string(round.streams) == "legacy";
  const cudaStream_t ofModule = isLegacy ? cudaStreamLegacy : newStream(), first = newStream(), second = newStream(),
                     other = newStream();
  std::array<cudaStream_t, kStores> fresh;
  for (cudaStream_t& stream : fresh) stream = newStream();

  stayKernel<<<1, 1, 0, first>>>(words.firstBegan, words.firstEnd);
  comes([&] { return *words.firstBegan != 0; }, kLongNanos);
  OtherThread loading([&] { launchOfLateModule(words.late, ofModule); });
  const bool isLoadingBlocked = loading.isBlocked();
  const auto launchSecond = [&] { stayKernel<<<1, 1, 0, second>>>(words.secondBegan, words.secondEnd); };
  bool isSecondBlocked = false;
  if (round.launched == Launched::afterwards) {
    *words.firstEnd = 1;
    loading.join();
    launchSecond();
  } else {
    OtherThread launching(launchSecond);
    isSecondBlocked = launching.isBlocked();
    *words.firstEnd = 1;
    loading.join();
    launching.join();
  }
  const bool hasSecondBegun = comes([&] { return *words.secondBegan != 0; }, kLongNanos);
  setKernel<<<1, 1, 0, other>>>(words.other);
  for (size_t i = 0; i < kStores; ++i) letStore(fresh[i], words.stores + i);
  comes([&] { return words.haveAllCome(); }, kSoonNanos);
  const std::string beside = words.found();
  *words.secondEnd = 1;
  comes([&] { return words.haveAllCome(); }, kLongNanos);
  const auto word = [](bool value) { return value ? "true" : "false"; };
  std::printf(
      "{\"bench\":\"load-barrier\",\"streams\":\"%s\",\"second\":\"%s\",\"loadingBlocked\":%s,\"secondBlocked\":%s,"
      "\"secondBegan\":%s,\"givenStores\":%zu,\"beside\":%s,\"after\":%s}\n",
      round.streams, nameOf(round.launched), word(isLoadingBlocked), word(isSecondBlocked), word(hasSecondBegun),
      kStores, beside.c_str(), words.found().c_str());
  DFCCL_CUDA(cudaDeviceSynchronize());
}

[[noreturn]] void probeAndExit(const Round& round) {
  alarm(kAlarmSeconds);
  int code = 0;
  try {
    probe(round);
  } catch (const std::exception& error) {
    std::printf("{\"bench\":\"load-barrier\",\"error\":\"%s\"}\n", error.what());
    code = 2;
  }
  std::fflush(stdout);
  _exit(code);
}

}  // namespace

/// --rounds: of each kind.
int runLoadBarrier(const Arguments& arguments) {
  int worst = 0;
  for (const char* const streams : {"legacy", "non-blocking"}) {
    for (const Launched launched : {Launched::inBetween, Launched::afterwards, Launched::loadedBefore}) {
      for (uint64_t i = 0; i < arguments.number("--rounds", 4); ++i) {
        const Round round{streams, launched};
        const int child = fork();
        if (child == 0) probeAndExit(round);
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFEXITED(status)) {
          worst = std::max(worst, WEXITSTATUS(status));
          continue;
        }
        worst = 3;
        std::printf("{\"bench\":\"load-barrier\",\"streams\":\"%s\",\"second\":\"%s\",\"result\":\"stuck\"}\n", streams,
                    nameOf(launched));
        std::fflush(stdout);
      }
    }
  }
  return worst;
}

}  // namespace dfccl::gpu::bench
