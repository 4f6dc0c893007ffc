// Runs before, behind and between streams, in random orders, with what keeps CUDA to itself beside them.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <utility>

#include "streams.hpp"

using namespace dfccl::gpu::test;

namespace {

constexpr int kIds = 6, kStreams = 3, kSteps = 150;

/// First and last: three, DFCCL_SEEDS times as many, or the one that DFCCL_SEED names.
std::pair<uint32_t, uint32_t> seeds() {
  if (const char* only = std::getenv("DFCCL_SEED")) {
    const auto seed = static_cast<uint32_t>(std::atoi(only));
    return {seed, seed};
  }
  const char* factor = std::getenv("DFCCL_SEEDS");
  return {1, factor != nullptr ? static_cast<uint32_t>(3 * std::atof(factor)) : 3};
}

/// A program that never waits for what it has not submitted on all ranks yet: so whatever it does, it ends.
class Program {
 public:
  explicit Program(uint32_t seed) : random_(seed) {
    for (int r = 0; r < ranks_.size(); ++r) {
      for (int i = 0; i < kStreams; ++i) streams_[r].emplace_back(ranks_.device(r));
    }
    for (int id = 0; id < kIds; ++id) {
      collectives_.push_back({1 + below(size_t{1} << (4 * id)), {}, {}});
      Collective& c = collectives_.back();
      for (int r = 0; r < ranks_.size(); ++r) {
        c.send.emplace_back(ranks_.device(r), c.count);
        c.recv.emplace_back(ranks_.device(r), c.count);
        c.send.back().set(std::vector<int32_t>(c.count, r + 1));
      }
      registerAll(id);
    }
  }

  void run() {
    for (int step = 0; step < kSteps; ++step) act();
    drain();
  }

 private:
  struct Collective {
    size_t count;
    std::vector<DeviceArray<int32_t>> send, recv;
    bool hasRun = false;
  };

  void act() {
    const size_t dice = below(100);
    if (dice < 75) {
      submit(static_cast<int>(below(kIds)));
    } else if (dice < 88) {
      letWait(static_cast<int>(below(kIds)), anyRank());
    } else if (dice < 93) {
      freeing_.push_back(std::make_unique<Freeing>(ranks_.device(anyRank())));
    } else if (dice < 96) {
      outwaitStays();
    } else {
      drain();
      renew(static_cast<int>(below(kIds)), below(2) == 0);
    }
  }

  /// A run of every rank, some of them behind a stream; then streams of some ranks wait for it.
  void submit(int id) {
    std::vector<int> order = anyOrder();
    for (const int r : order) {
      const Collective& c = collectives_[static_cast<size_t>(id)];
      int32_t* const send = c.send[static_cast<size_t>(r)].data();
      int32_t* const recv = c.recv[static_cast<size_t>(r)].data();
      const bool isBehind = below(2) == 0;
      const Stream& stream = anyStream(r);
      CHECK_OK(untilRoom([&] {
        return isBehind ? dfcclRunOnStream(send, recv, id, stream, nullptr, nullptr, ranks_[r])
                        : dfcclRun(send, recv, id, nullptr, nullptr, ranks_[r]);
      }));
    }
    collectives_[static_cast<size_t>(id)].hasRun = true;
    order = anyOrder();
    for (const int r : order) {
      if (below(2) == 0) letWait(id, r);
    }
  }

  void letWait(int id, int rank) { CHECK_OK(dfcclWaitOnStream(id, anyStream(rank), ranks_[rank])); }

  void drain() {
    CHECK_OK(ranks_.waitAll());
    for (const auto& [rank, streams] : streams_) {
      for (const Stream& stream : streams) CHECK(stream.synchronize());
    }
    freeing_.clear();
    const int32_t sum = ranks_.size() * (ranks_.size() + 1) / 2;
    for (const Collective& c : collectives_) {
      for (const auto& recv : c.recv) CHECK((!c.hasRun || recv.get() == std::vector<int32_t>(c.count, sum)));
    }
  }

  /// The id goes to a new collective. @pre drained
  void renew(int id, bool isAborted) {
    if (isAborted) CHECK_OK(dfcclAbort(id, ranks_[anyRank()]));
    for (int r = 0; r < ranks_.size(); ++r) CHECK_OK(dfcclUnregister(id, ranks_[r]));
    registerAll(id);
  }

  void registerAll(int id) {
    const size_t count = collectives_[static_cast<size_t>(id)].count;
    for (int r = 0; r < ranks_.size(); ++r) {
      CHECK_OK(dfcclRegisterAllReduce(count, dfcclInt32, dfcclSum, id, dfcclAllRanks(), 0, ranks_[r]));
    }
  }

  size_t below(size_t bound) { return random_() % bound; }
  int anyRank() { return static_cast<int>(below(static_cast<size_t>(ranks_.size()))); }
  const Stream& anyStream(int rank) { return streams_.at(rank)[below(kStreams)]; }
  std::vector<int> anyOrder() {
    std::vector<int> order(static_cast<size_t>(ranks_.size()));
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::shuffle(order.begin(), order.end(), random_);
    return order;
  }

  std::mt19937 random_;
  const GpuRanks ranks_;
  std::map<int, std::vector<Stream>> streams_;
  std::vector<Collective> collectives_;
  std::vector<std::unique_ptr<Freeing>> freeing_;
};

}  // namespace

TEST_CASE("runs before, behind and between streams end, whatever is freed and registered anew meanwhile") {
  const auto [first, last] = seeds();
  for (uint32_t seed = first; seed <= last; ++seed) {
    CAPTURE(seed);
    Program(seed).run();
  }
}
