// All-reduces of ranks on several machines, which are network namespaces with links of a rate that is asked for:
// hierarchical beside one flat ring, by turns in one run, and how much of the links' rate they reach.
//   machines_bench [--machines 4] [--ranks 2] [--rate 1gbit] [--sizes 65536,1048576] [--repetitions 11] [--lanes 4]
//   [--workers 1]
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "arguments.hpp"
#include "network/network.hpp"
#include "network/support/namespaces.hpp"
#include "network/support/rendezvous_points.hpp"
#include "processes/support/joined_rank.hpp"
#include "processes/support/processes.hpp"
#include "world/connected_programs.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

struct Plan {
  uint32_t machines = 4, ranksEach = 2;
  std::string rate;  // "" : as fast as the system copies
  std::vector<uint64_t> sizes{64 << 10, 1 << 20, 16 << 20, 64 << 20};
  int repetitions = 11;
  uint32_t lanes = 0;  // of every size; 0: 4 from 1 MiB on
  uint32_t workers = 1;
  uint32_t ranks() const { return machines * ranksEach; }
};

/// Medians, in seconds.
struct Result {
  double hierarchical, flat;
};

class Bench {
 public:
  Bench(JoinedRank& own, const Plan& plan) : own_(own), plan_(plan) {}

  Result measure(uint64_t bytes) {
    const uint64_t count = bytes / sizeof(float);
    const uint32_t lanes = plan_.lanes != 0 ? plan_.lanes : bytes >= 1 << 20 ? 4 : 1;
    std::vector<uint32_t> apart(plan_.ranks()), together(plan_.ranks());
    for (uint32_t r = 0; r < plan_.ranks(); ++r) {
      apart[r] = r;
      together[r] = r / plan_.ranksEach;
    }
    const uint32_t hierarchical = add(count, together, lanes);
    const uint32_t flat = add(count, apart, lanes);
    Segment& segment = *own_.world().segment();
    auto* in = reinterpret_cast<float*>(segment.allocateBuffer(bytes));
    auto* out = reinterpret_cast<float*>(segment.allocateBuffer(bytes));
    for (uint64_t i = 0; i < count; ++i) in[i] = inputAt(own_.number(), 0, 0, i);
    std::vector<double> hierarchicalTimes, flatTimes;
    for (int i = 0; i <= plan_.repetitions; ++i) {
      const double first = run(hierarchical, in, out);
      check(out, count);
      const double second = run(flat, in, out);
      check(out, count);
      if (i == 0) continue;  // the first connects
      hierarchicalTimes.push_back(first);
      flatTimes.push_back(second);
    }
    own_.world().unregisterCollective(own_.number(), hierarchical, runs_);
    own_.world().unregisterCollective(own_.number(), flat, runs_);
    runs_ = 0;
    segment.freeBuffer(reinterpret_cast<uint8_t*>(in), bytes);
    segment.freeBuffer(reinterpret_cast<uint8_t*>(out), bytes);
    return {median(hierarchicalTimes), median(flatTimes)};
  }

  bool isRight() const { return isRight_; }

 private:
  uint32_t add(uint64_t count, const std::vector<uint32_t>& hostOf, uint32_t lanes) {
    CollectiveSpec spec;
    spec.id = nextId_++;
    spec.count = count;
    spec.ranks = allRanks(plan_.ranks());
    spec.program = buildConnectedProgram(Collective::allReduce, hostOf, own_.number(), 0, lanes);
    return own_.world().registerCollective(own_.number(), spec);
  }

  double run(uint32_t index, float* in, float* out) {
    CpuWorld& world = own_.world();
    const auto begin = std::chrono::steady_clock::now();
    const uint32_t slot = world.rank(own_.number()).submit(index, in, out, nullptr, nullptr);
    world.ring();
    isRight_ &= own_.wait(slot) == dfcclSuccess;
    runs_ += index % 2;  // both as often
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  void check(const float* out, uint64_t count) {
    // A sample: all of it would take longer than the collective.
    for (uint64_t i = 0; i < count; i += 1 + count / 1000) {
      float sum = 0;
      for (uint32_t r = 0; r < plan_.ranks(); ++r) sum += inputAt(r, 0, 0, i);
      isRight_ &= out[i] == sum;
    }
  }

  static double median(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  JoinedRank& own_;
  const Plan& plan_;
  uint32_t nextId_ = 0;
  uint64_t runs_ = 0;
  bool isRight_ = true;
};

/// "1gbit" in bytes a second; 0 where it isn't said so.
double bytesPerSecond(const std::string& rate) {
  char* unit = nullptr;
  const double value = std::strtod(rate.c_str(), &unit);
  return std::strcmp(unit, "gbit") == 0 ? value * 125e6 : std::strcmp(unit, "mbit") == 0 ? value * 125e3 : 0;
}

void report(const Plan& plan, uint64_t bytes, const Result& result) {
  const double ranks = plan.ranks(), machines = plan.machines;
  const double crossing = 2 * (machines - 1) / machines * static_cast<double>(bytes);
  const double crossingFlat = 2 * (ranks - 1) / ranks * static_cast<double>(bytes);
  const double rate = bytesPerSecond(plan.rate);
  std::printf("| %8.0f KiB | %9.3f ms | %9.3f ms | %5.2f |", static_cast<double>(bytes) / 1024,
              result.hierarchical * 1e3, result.flat * 1e3, result.flat / result.hierarchical);
  if (rate > 0) {
    std::printf(" %5.1f%% | %5.1f%% |", 100 * crossing / result.hierarchical / rate,
                100 * crossingFlat / result.flat / rate);
  } else {
    std::printf(" %7.0f MB/s | %7.0f MB/s |", crossing / result.hierarchical / 1e6, crossingFlat / result.flat / 1e6);
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--machines") plan.machines = static_cast<uint32_t>(std::stoul(value));
    if (name == "--ranks") plan.ranksEach = static_cast<uint32_t>(std::stoul(value));
    if (name == "--rate") plan.rate = value;
    if (name == "--lanes") plan.lanes = static_cast<uint32_t>(std::stoul(value));
    if (name == "--workers") plan.workers = static_cast<uint32_t>(std::stoul(value));
    if (name == "--repetitions") plan.repetitions = std::stoi(value);
    if (name == "--sizes") {
      plan.sizes.clear();
      for (const std::string& size : bench::split(value, ',')) plan.sizes.push_back(std::stoull(size));
    }
  }
  if (!canMakeMachines()) return kSkipped;
  const Machines machines(plan.machines);
  for (uint32_t m = 0; m < plan.machines && !plan.rate.empty(); ++m) {
    if (machines.shape(m, plan.rate)) continue;
    std::printf("skipped: tc can't shape links here (tbf)\n");
    return kSkipped;
  }
  std::printf("| size | hierarchical | flat ring | times faster | %s, hierarchical | flat |\n",
              plan.rate.empty() ? "leaves a machine" : ("share of " + plan.rate).c_str());
  std::printf("| --: | --: | --: | --: | --: | --: |\n");
  std::fflush(stdout);
  const std::string job = newJob();
  Processes processes(plan.ranks(), [&](uint32_t rank) {
    if (!machines.enter(rank / plan.ranksEach)) return kThrew;
    setenv("UCX_TLS", "tcp", 1);
    const RendezvousPoint point{Machines::addressOf(0), 29'500, kSecret, {}};
    JoinedRank own(job, rank, plan.ranks(), 60'000, plan.workers, &point);
    Bench bench(own, plan);
    for (const uint64_t bytes : plan.sizes) {
      const Result result = bench.measure(bytes);
      if (rank == 0) report(plan, bytes, result);
    }
    return bench.isRight() ? kFine : kWrong;
  });
  int status = 0;
  for (uint32_t r = 0; r < plan.ranks(); ++r) status |= processes.join(r, std::chrono::seconds(900));
  if (status != 0) std::printf("a rank ended with %d\n", status);
  return status == 0 ? 0 : 1;
}
