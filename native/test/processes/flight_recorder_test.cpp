#include "processes/flight_recorder.hpp"

#include <doctest/doctest.h>
#include <signal.h>

#include <thread>
#include <vector>

#include "processes/support/joined_rank.hpp"
#include "processes/support/leaks.hpp"
#include "processes/support/processes.hpp"
#include "processes/support/temporary_folder.hpp"

using namespace dfccl;
using namespace dfccl::test;

TEST_CASE("only the first timeout of a world is recorded, whoever else runs out of time at that moment") {
  const TemporaryFolder folder;
  JoinedRank own(newJob(), 0, 1);
  FlightRecorder recorder(own.world().options().segment, folder / "rank_");
  Atomic<uint32_t> told, silent;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { (recorder.recordTimeout().empty() ? silent : told).fetchAdd(1, order::acqRel); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(told.load(order::acquire) == 1);
  CHECK(silent.load(order::acquire) == 3);
  CHECK(filesIn(folder.path().c_str()) == std::set<std::string>{".", "..", "rank_0"});
}

TEST_CASE("a recorder may go while signals come, and collectives come and go: what it has written is whole") {
  const TemporaryFolder folder;
  signal(SIGUSR2, SIG_IGN);
  JoinedRank own(newJob(), 0, 1);
  Atomic<uint32_t> isOver;
  std::thread sender([&] {
    while (isOver.load(order::acquire) == 0) kill(getpid(), SIGUSR2);
  });
  for (int i = 0; i < 50; ++i) {
    const std::string prefix = folder / std::to_string(i) + "/rank_";
    const FlightRecorder recorder(own.world().options().segment, prefix);
    while (contentOf(prefix + "0").empty()) {
      CollectiveSpec spec;
      spec.id = 7;
      spec.count = 1;
      spec.ranks = {0};
      own.world().unregisterCollective(0, own.world().registerCollective(0, spec), 0);
    }
    CHECK(contentOf(prefix + "0").starts_with(R"({"version":"2.10")"));
    CHECK(contentOf(prefix + "0").ends_with("]}\n"));
  }
  isOver.store(1, order::release);
  sender.join();
  signal(SIGUSR2, SIG_DFL);
}
