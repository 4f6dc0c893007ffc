// Signatures that one rank has forgotten and another hasn't.
#include <string>
#include <thread>
#include <vector>

#include "forgetful_rank.hpp"
#include "support.hpp"

using namespace dfccl::gpu::test;

TEST_CASE("runs of what one rank has forgotten and another hasn't meet, in their order") {
  const GpuRanks ranks(2, 1, 4, ForgetfulRank::kPlaces);
  std::vector<std::string> wrong(static_cast<size_t>(ranks.size()));
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks.size(); ++r) {
    threads.emplace_back([&, r] {
      cudaSetDevice(ranks.device(r));
      ForgetfulRank rank(ranks[r], r, ranks.size());
      std::string& mine = wrong[static_cast<size_t>(r)];
      for (unsigned seed = 1; seed <= 4 && mine.empty(); ++seed) mine = rank.carryOut(seed, 150);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& each : wrong) CHECK(each == "");
}
