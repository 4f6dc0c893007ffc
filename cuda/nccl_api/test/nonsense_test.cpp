// Each of NCCL's functions called with nonsense: an answer and a sentence, and the program goes on.
#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include "nccl_api/test/ranks.hpp"

using namespace dfccl::nccl::test;

namespace {

/// Arguments that make no sense: mostly nulls, handles of nothing, numbers out of bounds. What a function would write
/// through is null or a page of the test's own, because no library can tell an address that isn't one.
class Nonsense {
 public:
  /// @param handle a communicator's, freed or not, which is passed as often as those of nothing
  Nonsense(uint32_t seed, ncclComm_t handle) : random_(seed), handle_(handle) {}

  template <class T>
  T make() {
    if constexpr (std::is_same_v<T, ncclComm_t>) {
      const ncclComm_t handles[] = {nullptr, handle_, reinterpret_cast<ncclComm_t>(8),
                                    reinterpret_cast<ncclComm_t>(~0ul)};
      return handles[random_() % 4];
    } else if constexpr (std::is_same_v<T, cudaStream_t>) {
      return nullptr;  // CUDA itself doesn't look whether there is such a stream
    } else if constexpr (std::is_pointer_v<T>) {
      return random_() % 2 == 0 ? nullptr : reinterpret_cast<T>(page_);
    } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      const int64_t numbers[] = {0, 1, -1, 5, 12, 1 << 20, INT32_MAX, INT32_MIN};
      return static_cast<T>(numbers[random_() % 8]);
    } else {
      T value{};
      std::memset(static_cast<void*>(&value), static_cast<int>(random_() % 3), sizeof value);
      return value;
    }
  }

 private:
  std::mt19937 random_;
  const ncclComm_t handle_;
  alignas(64) char page_[4096] = {};
};

/// That a function has failed, and said why.
void checkReason(const char* name) {
  const std::string why = ncclGetLastError(nullptr);
  CHECK(why.find(name) == 0);
  CHECK(why.size() > std::strlen(name) + 10);
}

template <class Result, class... Arguments>
void callWith(Nonsense& nonsense, const char* name, Result (*function)(Arguments...)) {
  CAPTURE(name);
  // In order of the parameters, so that a seed tells what was called.
  std::tuple<Arguments...> arguments{nonsense.make<Arguments>()...};
  if constexpr (std::is_same_v<Result, ncclResult_t>) {
    const ncclResult_t result = std::apply(function, arguments);
    CHECK(result >= ncclSuccess);
    CHECK(result <= ncclTimeout);
    if (result != ncclSuccess && result != ncclInProgress) checkReason(name);
  } else {
    std::apply(function, arguments);
  }
}

/// Of a function that isn't offered, whatever its arguments.
template <class Result, class... Arguments>
void checkRefused(const char* name, Result (*function)(Arguments...)) {
  CAPTURE(name);
  const Result result = function(Arguments{}...);
  if constexpr (std::is_same_v<Result, ncclResult_t>) CHECK(result == ncclInvalidUsage);
  checkReason(name);
}

}  // namespace

TEST_CASE("every function, with nulls, freed handles and numbers out of bounds") {
  cudaSetDevice(0);
  ncclComm_t freed = nullptr;
  CHECK_NCCL(ncclCommInitRank(&freed, 1, newId(), 0));
  CHECK_NCCL(ncclCommDestroy(freed));
  CHECK(ncclCommDestroy(freed) == ncclInvalidArgument);
  for (uint32_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Nonsense nonsense(seed, freed);
#define DFCCL_CALL(name) callWith(nonsense, #name, name);
    DFCCL_NCCL_FUNCTIONS(DFCCL_CALL)
#undef DFCCL_CALL
    // A group may have been begun.
    while (ncclGroupEnd() != ncclInvalidUsage) {
    }
  }
}

namespace {

/// All functions but those that end a communicator, give it up, or make it wait for others.
void callAllOn(ncclComm_t comm, Nonsense& nonsense) {
  const std::set<std::string> others = {"ncclCommDestroy", "ncclCommAbort", "ncclCommRevoke", "ncclCommFinalize",
                                        "ncclCommShrink",  "ncclCommGrow",  "ncclGroupEnd",   "ncclGroupSimulateEnd"};
#define DFCCL_CALL(name) \
  if (!others.contains(#name)) callWith(nonsense, #name, name);
  DFCCL_NCCL_FUNCTIONS(DFCCL_CALL)
#undef DFCCL_CALL
  // The groups that were begun go on in no other thread.
  std::thread([] { CHECK(ncclGroupEnd() == ncclInvalidUsage); }).join();
  while (ncclGroupEnd() != ncclInvalidUsage) {
  }
  ncclResult_t state = ncclInProgress;
  CHECK_NCCL(ncclCommGetAsyncError(comm, &state));
  CHECK(state == ncclSuccess);
}

}  // namespace

TEST_CASE(
    "a communicator that is there outlives all of that, in groups and outside, and so does one that was revoked") {
  cudaSetDevice(0);
  const Comm comm(newId(), 1, 0), revoked(newId(), 1, 0);
  CHECK_NCCL(ncclCommRevoke(revoked, 0));
  for (uint32_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Nonsense nonsense(seed, seed % 2 == 0 ? comm : revoked);
    if (seed % 4 >= 2) CHECK_NCCL(ncclGroupStart());
    callAllOn(seed % 2 == 0 ? comm : revoked, nonsense);
  }
  checkSum(comm, 3, 3);
}

TEST_CASE("what is not offered is refused, with the reason") {
#define DFCCL_CHECK(name) checkRefused(#name, name);
  DFCCL_NCCL_REFUSED(DFCCL_CHECK)
#undef DFCCL_CHECK
}

TEST_CASE("a communicator that is there, with everything else wrong") {
  cudaSetDevice(0);
  const Comm comm(newId(), 1, 0);
  const RankStream stream;
  const Buffer buffer(kCount, 1);
  const auto type = ncclFloat32;
  const auto badType = static_cast<ncclDataType_t>(12);
  const auto badOp = static_cast<ncclRedOp_t>(17);
  CHECK(ncclAllReduce(buffer, buffer, kCount, badType, ncclSum, comm, stream) == ncclInvalidArgument);
  CHECK(ncclAllReduce(buffer, buffer, kCount, type, badOp, comm, stream) == ncclInvalidArgument);
  CHECK(ncclAllReduce(nullptr, buffer, kCount, type, ncclSum, comm, stream) == ncclInvalidArgument);
  CHECK(ncclAllReduce(buffer, nullptr, kCount, type, ncclSum, comm, stream) == ncclInvalidArgument);
  CHECK(ncclAllReduce(buffer, buffer, ~size_t{0}, type, ncclSum, comm, stream) == ncclInvalidArgument);
  CHECK(ncclAlltoAll(buffer, buffer, ~size_t{0}, type, comm, stream) == ncclInvalidArgument);
  CHECK(ncclAlltoAll(buffer, buffer, ~size_t{0} / 4 - 100, type, comm, stream) == ncclInvalidArgument);
  float two = 2;
  ncclRedOp_t twice = ncclSum;
  CHECK_NCCL(ncclRedOpCreatePreMulSum(&twice, &two, type, ncclScalarHostImmediate, comm));
  CHECK(ncclReduceScatter(buffer, buffer, ~size_t{0}, type, twice, comm, stream) == ncclInvalidArgument);
  CHECK(ncclBroadcast(buffer, buffer, kCount, type, 1, comm, stream) == ncclInvalidArgument);
  CHECK(ncclSend(buffer, kCount, type, 3, comm, stream) == ncclInvalidArgument);
  CHECK(ncclRecv(buffer, kCount, type, -1, comm, stream) == ncclInvalidArgument);
  CHECK(ncclSend(buffer, kCount, type, 0, comm, stream) == ncclInvalidUsage);  // to itself, without the other half
  std::vector<float> host(kCount);
  CHECK(ncclAllReduce(host.data(), host.data(), kCount, type, ncclSum, comm, stream) == ncclInvalidArgument);
  // What a kernel or a copy works on before the run is looked at before that: a GPU that reads such memory is lost.
  CHECK(ncclAllReduce(host.data(), buffer, kCount, type, twice, comm, stream) == ncclInvalidArgument);
  CHECK(ncclAllReduce(buffer, host.data(), kCount, type, twice, comm, stream) == ncclInvalidArgument);
  CHECK(ncclAllReduce(buffer, buffer, kCount + 1, type, twice, comm, stream) == ncclInvalidArgument);
  CHECK(ncclAllReduce(buffer, buffer, (size_t{1} << 62) + 1, type, twice, comm, stream) == ncclInvalidArgument);
  char* const odd = reinterpret_cast<char*>(buffer.data()) + 1;
  CHECK(ncclAllReduce(odd, buffer, kCount / 2, type, twice, comm, stream) == ncclInvalidArgument);
  CHECK(ncclReduceScatter(host.data(), buffer, kCount, type, twice, comm, stream) == ncclInvalidArgument);
  CHECK(ncclAlltoAll(host.data(), host.data(), kCount, type, comm, stream) == ncclInvalidArgument);
  // So are a rank's messages to itself.
  const auto sendToSelf = [&](const void* from, void* to, size_t count) {
    CHECK_NCCL(ncclGroupStart());
    CHECK_NCCL(ncclSend(from, count, type, 0, comm, stream));
    CHECK_NCCL(ncclRecv(to, count, type, 0, comm, stream));
    return ncclGroupEnd();
  };
  CHECK(sendToSelf(host.data(), buffer, kCount) == ncclInvalidArgument);
  CHECK(sendToSelf(buffer, nullptr, kCount) == ncclInvalidArgument);
  CHECK(sendToSelf(buffer, buffer, kCount + 1) == ncclInvalidArgument);
  CHECK(sendToSelf(buffer, buffer, (size_t{1} << 62) + 1) == ncclInvalidArgument);
  ncclComm_t made = nullptr;
  CHECK(ncclCommInitRank(&made, 1, ncclUniqueId{}, 0) == ncclInvalidArgument);
  CHECK(made == nullptr);
  ncclUniqueId foreign = newId();
  foreign.internal[8] ^= 1;  // where it says which machine has made it
  CHECK(ncclCommInitRank(&made, 1, foreign, 0) == ncclInvalidArgument);
  CHECK(std::string(ncclGetLastError(nullptr)).find("another machine") != std::string::npos);
  CHECK(ncclCommInitRank(&made, 2, newId(), 2) == ncclInvalidArgument);
  ncclConfig_t config{};
  CHECK(ncclCommInitRankConfig(&made, 1, newId(), 0, &config) == ncclInvalidArgument);
  config = configThatDoesNotBlock();
  config.minCTAs = 8;
  config.maxCTAs = 4;
  CHECK(ncclCommInitRankConfig(&made, 1, newId(), 0, &config) == ncclInvalidArgument);
  CHECK(made == nullptr);
  const int repeated[] = {0, 0}, beyond[] = {99};
  ncclComm_t both[2];
  CHECK(ncclCommInitAll(both, 2, repeated) == ncclInvalidUsage);  // as in NCCL
  CHECK(ncclCommInitAll(both, 1, beyond) == ncclInvalidArgument);
  auto window = reinterpret_cast<ncclWindow_t>(8);
  CHECK(ncclCommWindowDeregister(comm, window) == ncclInvalidUsage);
  CHECK(ncclCommWindowRegister(comm, buffer, kCount, &window, 0) == ncclInvalidUsage);
  CHECK(window == nullptr);
  CHECK_NCCL(ncclCommWindowDeregister(comm, window));
  // All of it was refused, and the communicator works.
  CHECK_NCCL(ncclAllReduce(buffer, buffer, kCount, type, ncclSum, comm, stream));
  CHECK(stream.synchronize());
}

TEST_CASE("ranks that disagree on their number, and a rank that comes twice, are told so") {
  const ncclUniqueId id = newId();
  ncclConfig_t config{};
  config.size = sizeof config;
  config.magic = kNcclMagic;
  config.maxCTAs = kNcclUnset;
  cudaSetDevice(0);
  ncclComm_t both[2] = {};
  ncclResult_t states[2] = {ncclInProgress, ncclInProgress};
  for (ncclComm_t& comm : both) CHECK(ncclCommInitRankConfig(&comm, 2, id, 0, &config) == ncclInProgress);
  // Whichever came second.
  while (states[0] == ncclInProgress && states[1] == ncclInProgress) {
    for (int i = 0; i < 2; ++i) CHECK_NCCL(ncclCommGetAsyncError(both[i], &states[i]));
  }
  CHECK(std::max(states[0], states[1]) == ncclInProgress);
  CHECK(std::min(states[0], states[1]) == ncclInvalidArgument);
  ncclComm_t other = nullptr;
  CHECK(ncclCommInitRank(&other, 3, id, 1) == ncclInvalidArgument);
  CHECK(other == nullptr);
  for (const ncclComm_t comm : both) CHECK_NCCL(ncclCommAbort(comm));
}
