// Collectives that are kernels in their streams, as NCCL's are.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include "nccl_api/calls/communicator.hpp"
#include "nccl_api/test/ranks.hpp"

using namespace dfccl::nccl::test;

TEST_CASE("a group's collectives in one stream are under way at once, in whatever order ranks have them") {
  constexpr int kRanks = 2, kSums = 40;
  constexpr size_t kLeast = 10;  // elements; each has another number, and some are no work of the stream's
  constexpr size_t kLarge = 100'000;
  const ncclUniqueId id = newId();
  onRanks(kRanks, [&](int rank) {
    const Comm comm(id, kRanks, rank);
    const RankStream stream;
    std::vector<std::unique_ptr<Buffer>> send, recv;
    const auto countOf = [](int i) { return (i % 10 == 0 ? kLarge : kLeast) + static_cast<size_t>(i); };
    for (int i = 0; i < kSums; ++i) {
      send.push_back(std::make_unique<Buffer>(countOf(i), static_cast<float>(i + rank)));
      recv.push_back(std::make_unique<Buffer>(countOf(i), 0.0F));
    }
    std::mt19937 random(static_cast<unsigned>(rank));
    for (int round = 0; round < 5; ++round) {
      std::vector<int> order(kSums);
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      CHECK_NCCL(ncclGroupStart());
      for (const int i : order) {
        const auto at = static_cast<size_t>(i);
        CHECK_NCCL(ncclAllReduce(*send[at], *recv[at], countOf(i), ncclFloat32, ncclSum, comm, stream));
      }
      CHECK_NCCL(ncclGroupEnd());
      CHECK(stream.synchronize());
      for (int i = 0; i < kSums; ++i) {
        CHECK(recv[static_cast<size_t>(i)]->isAll(static_cast<float>(2 * i + 1)));
        recv[static_cast<size_t>(i)]->fill(0);
      }
    }
  });
}

TEST_CASE("DFCCL_BYTES_IN_STREAMS says how much a member may receive in a collective that is its stream's work") {
  using dfccl::nccl::Config;
  const char* const said = std::getenv("DFCCL_BYTES_IN_STREAMS");
  const std::string former = said == nullptr ? "" : said;
  unsetenv("DFCCL_BYTES_IN_STREAMS");
  CHECK(Config::read(nullptr).mostBytesInStreams == ~uint64_t{0});
  for (const auto& [text, bytes] :
       {std::pair{"0", uint64_t{0}}, {"4096", 4096}, {"99999999999999999999", UINT64_MAX}}) {
    setenv("DFCCL_BYTES_IN_STREAMS", text, 1);
    CHECK(Config::read(nullptr).mostBytesInStreams == bytes);
  }
  if (said == nullptr) {
    unsetenv("DFCCL_BYTES_IN_STREAMS");
  } else {
    setenv("DFCCL_BYTES_IN_STREAMS", former.c_str(), 1);
  }
}

TEST_CASE("a group's call on a communicator that is still being made is refused") {
  cudaSetDevice(deviceOf(0));
  const RankStream stream;
  const Buffer ones(kCount, 1), sum(kCount, 0);
  ncclConfig_t config = configThatDoesNotBlock();
  ncclComm_t comm = nullptr;
  CHECK(ncclCommInitRankConfig(&comm, 2, newId(), 0, &config) == ncclInProgress);
  CHECK_NCCL(ncclGroupStart());
  CHECK_NCCL(ncclAllReduce(ones, sum, kCount, ncclFloat32, ncclSum, comm, stream));
  CHECK(ncclGroupEnd() == ncclInvalidArgument);
  CHECK(std::string(ncclGetLastError(nullptr)).find("still being made") != std::string::npos);
  CHECK_NCCL(ncclCommAbort(comm));
}
