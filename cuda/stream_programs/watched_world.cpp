#include "stream_programs/watched_world.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "stream_programs/cuda_calls.hpp"
#include "stream_programs/perfect_library.hpp"

namespace dfccl::gpu::programs {
namespace {

constexpr std::chrono::seconds kPatience{kIsSimulated ? 60 : 20};
/// What simulated devices do on demand only (../test/simulated/README.md); 1 is a seed, too.
constexpr const char* kUnkindnesses[] = {"SIMULATED_LATE_LAUNCHES", "SIMULATED_PREEMPTIONS",
                                         "SIMULATED_LOCKED_ATTRIBUTES", "SIMULATED_IDLE_IPC",
                                         "SIMULATED_QUEUED_COPIES"};
constexpr useconds_t kLookMicros = 5000;
constexpr useconds_t kAnswerMicros = 200'000;

}  // namespace

WatchedWorld::WatchedWorld(const WorldPlan& plan, const Options& options, SharedPage& page)
    : plan_(plan), options_(options), page_(page) {
  plan_.port = port_.number();
  page_.beginWorld();
  std::fflush(nullptr);
  for (uint32_t process = 0; process < plan_.processes; ++process) start(process);
}

WatchedWorld::~WatchedWorld() { killAll(); }

void WatchedWorld::start(uint32_t process) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child != 0) {
    children_.push_back(child);
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kError);
  if (options_.queues != 0) setenv("CUDA_DEVICE_MAX_CONNECTIONS", std::to_string(options_.queues).c_str(), 1);
  if (options_.isUnkind) {
    for (const char* name : kUnkindnesses) setenv(name, "1", 0);
  }
  const int code = runProcess(plan_, options_, process, page_);
  std::fflush(nullptr);
  _exit(code);
}

uint64_t WatchedWorld::moves() const {
  uint64_t sum = page_.generation;
  for (const RankPlace& rank : page_.ranks) sum += rank.moves;
  return sum;
}

int WatchedWorld::await() {
  const Clock::duration patience = options_.patience != 0 ? std::chrono::seconds(options_.patience) : kPatience;
  Clock::time_point moved = Clock::now();
  uint64_t last = moves();
  int worst = kGood;
  for (size_t left = children_.size(); left != 0;) {
    usleep(kLookMicros);
    for (pid_t& child : children_) {
      int status = 0;
      if (child == 0 || waitpid(child, &status, WNOHANG) != child) continue;
      child = 0;
      --left;
      moved = Clock::now();
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : kError;
      if (WIFSIGNALED(status)) std::fprintf(stderr, "ERROR: a process was ended by signal %d\n", WTERMSIG(status));
      worst = std::max(worst, code);
      if (code != kGood && code != kWrong) {
        killAll();  // the others would wait for it
        return kError;
      }
    }
    if (const uint64_t now = moves(); now != last) {
      last = now;
      moved = Clock::now();
    }
    if (Clock::now() - moved > patience) {
      tellOfHang();
      killAll();
      return kHang;
    }
  }
  return worst;
}

void WatchedWorld::tellOfHang() const {
  uint64_t seed = 0;
  for (uint32_t r = 0; r < plan_.ranks; ++r) seed = std::max<uint64_t>(seed, page_.ranks[r].seed);
  std::printf(
      "HANG: seed %llu; again, if it happens again: --seed %llu --programs 1 --ranks %u --processes %u --machines "
      "%u%s\n",
      static_cast<unsigned long long>(seed), static_cast<unsigned long long>(seed), plan_.ranks, plan_.processes,
      plan_.machines, plan_.isSpread ? " --spread" : "");
  for (uint32_t r = 0; r < plan_.ranks; ++r) {
    const RankPlace& place = page_.ranks[r];
    if (place.seed == 0 && place.moves == 0) {
      std::printf("rank %u hasn't begun\n", r);
      continue;
    }
    const Program program = generate(place.seed, plan_.shape);
    const std::vector<Step>& steps = program.steps[r];
    const size_t at = place.step;
    std::printf("rank %u, seed %llu, step %zu of %zu: %s\n", r, static_cast<unsigned long long>(program.seed), at,
                steps.size(), at < steps.size() ? describe(steps[at]).c_str() : "the end of the program");
    if (!endsWithPerfectLibrary(program, plan_.shape, 1)) std::printf("the program itself can't end: report it\n");
    if (!options_.prints) continue;
    for (size_t c = 0; c < program.collectives.size() && r == 0; ++c) {
      std::printf("collective %zu: %s\n", c, describe(program.collectives[c]).c_str());
    }
    std::printf("%s", listing(program, static_cast<int>(r), at).c_str());
  }
  std::fflush(stdout);
  for (const pid_t child : children_) {
    if (child <= 0) continue;
    kill(child, SIGUSR1);  // see world_process.cpp
    usleep(kAnswerMicros);
  }
  runOnHang();
  if (std::getenv("DFCCL_FLIGHT_RECORD") == nullptr || plan_.processes == 1) return;
  for (const pid_t child : children_) {
    if (child > 0) kill(child, SIGUSR2);
  }
  usleep(2'000'000);
}

/// A debugger, say, which shows where the threads are.
void WatchedWorld::runOnHang() const {
  const char* const command = std::getenv("DFCCL_ON_HANG");
  if (command == nullptr) return;
  std::string line = command;
  for (const pid_t child : children_) {
    if (child > 0) line += " " + std::to_string(child);
  }
  if (std::system(line.c_str()) != 0) std::fprintf(stderr, "DFCCL_ON_HANG failed: %s\n", line.c_str());
}

void WatchedWorld::killAll() {
  for (pid_t& child : children_) {
    if (child <= 0) continue;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    child = 0;
  }
}

}  // namespace dfccl::gpu::programs
