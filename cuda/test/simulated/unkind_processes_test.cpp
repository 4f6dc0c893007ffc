// Processes that share a simulated device have it in turn.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "child.hpp"
#include "simulated/blocked_call.hpp"

using namespace dfccl::gpu::simulated;
using namespace dfccl::gpu::simulated::test;
using dfccl::gpu::test::Child;
using dfccl::gpu::test::ChildEnd;
using dfccl::gpu::test::runSelf;

namespace {

constexpr const char* kWordsVariable = "DFCCL_TEST_WORDS";

/// What the two processes of a case tell each other.
struct Words {
  std::array<std::atomic<uint32_t>, 2> steps;
  std::atomic<uint32_t> isOver;
};

Words& mapWords(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(file >= 0);
  REQUIRE(ftruncate(file, sizeof(Words)) == 0);
  void* const mapped = mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  REQUIRE(mapped != MAP_FAILED);
  close(file);
  return *static_cast<Words*>(mapped);
}

/// A kernel that counts its steps until the case is over.
void stepUntilOver(size_t which) {
  Words& words = mapWords(std::getenv(kWordsVariable));
  REQUIRE(launchUserKernel(newStream(), 0, [&] {
            while (words.isOver == 0) {
              step();
              ++words.steps[which];
              std::this_thread::yield();
            }
          }) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}

constexpr const char* kProcesses[] = {"the first process with a device", "the second process with a device"};
const Child first(kProcesses[0], [] { stepUntilOver(0); });
const Child second(kProcesses[1], [] { stepUntilOver(1); });

/// Two processes, and what they share.
class Sliced {
 public:
  Sliced(const char* sliceMicros, bool isSliced)
      : base_("/tmp/dfccl-slices-" + std::to_string(getpid()) + "-" + std::to_string(++count_)),
        words(mapWords(base_ + ".words")),
        sliceMicros_(sliceMicros),
        slices_(isSliced ? base_ + ".slices" : "") {}
  ~Sliced() {
    end();
    for (const char* what : {".words", ".slices"}) unlink((base_ + what).c_str());
  }

  void start(size_t which) {
    threads_[which] = std::thread([this, which] {
      ends_[which] = runSelf({},
                             {{"DFCCL_TEST_CHILD", kProcesses[which]},
                              {kWordsVariable, (base_ + ".words").c_str()},
                              {"SIMULATED_SLICES", slices_.c_str()},
                              {"SIMULATED_SLICE_MICROS", sliceMicros_}},
                             std::chrono::seconds(60));
    });
  }
  /// Until a process has made more steps than it has. @return whether it does.
  bool goesOn(size_t which, std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    const uint32_t before = words.steps[which];
    return comesToHold([&] { return words.steps[which] > before + 10; }, limit);
  }
  void end() {
    words.isOver = 1;
    for (size_t i = 0; i < 2; ++i) {
      if (threads_[i].joinable()) threads_[i].join();
      CHECK(ends_[i].code == 0);
    }
  }

 private:
  static inline int count_ = 0;
  const std::string base_;

 public:
  Words& words;

 private:
  const char* const sliceMicros_;
  const std::string slices_;
  std::array<std::thread, 2> threads_;
  std::array<ChildEnd, 2> ends_{ChildEnd{true, 0}, ChildEnd{true, 0}};
};

constexpr const char* kForever = "1000000000000";
constexpr std::chrono::milliseconds kLittle{300};

}  // namespace

TEST_CASE("while one process has a device another's kernels do nothing") {
  Sliced processes(kForever, true);
  processes.start(0);
  REQUIRE(processes.goesOn(0));
  processes.start(1);
  CHECK_FALSE(processes.goesOn(1, kLittle));
  CHECK(processes.goesOn(0));
}

TEST_CASE("control: where devices are not sliced, both go on") {
  Sliced processes(kForever, false);
  processes.start(0);
  REQUIRE(processes.goesOn(0));
  processes.start(1);
  CHECK(processes.goesOn(1));
}

TEST_CASE("slices end, and the processes go on in turn") {
  Sliced processes("1000", true);
  processes.start(0);
  processes.start(1);
  for (int i = 0; i < 3; ++i) {
    CHECK(processes.goesOn(0));
    CHECK(processes.goesOn(1));
  }
}
