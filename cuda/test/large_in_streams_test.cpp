// Runs in streams that are so large that their members move straight from and to each other's buffers.
#include "graphs.hpp"
#include "in_streams.hpp"

using namespace dfccl::gpu::test;

namespace {

constexpr int kLargeRoot = 1;
constexpr size_t kMostLargeBytes = size_t{1} << 30;
// No share of it, nor a lane's, ends where a line of 16 bytes does.
constexpr size_t kLargeCount = 150'001;

enum class LargeForm { allReduce, reduce, broadcast, allGather, reduceScatter, allToAll, gather, scatter };
constexpr LargeForm kLargeForms[] = {LargeForm::allReduce, LargeForm::reduce,        LargeForm::broadcast,
                                     LargeForm::allGather, LargeForm::reduceScatter, LargeForm::allToAll,
                                     LargeForm::gather,    LargeForm::scatter};

int32_t inputOf(int rank, size_t i) { return static_cast<int32_t>(1'000'003 * (rank + 1) + 7 * static_cast<int>(i)); }

/// Of one rank, and what it is to have of it. @param round makes inputs differ
struct LargeSide {
  LargeForm form;
  int rank, ranks;
  int round = 0;

  size_t sendSegments() const {
    return isOf({LargeForm::reduceScatter, LargeForm::allToAll, LargeForm::scatter}) ? many() : 1;
  }
  size_t recvSegments() const {
    return isOf({LargeForm::allGather, LargeForm::allToAll, LargeForm::gather}) ? many() : 1;
  }
  bool receives() const { return rank == kLargeRoot || !isOf({LargeForm::reduce, LargeForm::gather}); }
  /// Elements from the beginning of the larger buffer, which both are in, to each: as NCCL has it.
  size_t sendAt() const {
    return isOf({LargeForm::allGather, LargeForm::gather}) ? static_cast<size_t>(rank) * kLargeCount : 0;
  }
  size_t recvAt() const {
    return isOf({LargeForm::reduceScatter, LargeForm::scatter}) ? static_cast<size_t>(rank) * kLargeCount : 0;
  }

  int32_t input(int from, size_t i) const { return inputOf(from, i) + 31 * round; }
  int32_t expected(size_t i) const {
    const auto me = static_cast<size_t>(rank);
    const size_t within = i % kLargeCount;
    switch (form) {
      case LargeForm::broadcast:
        return input(kLargeRoot, i);
      case LargeForm::scatter:
        return input(kLargeRoot, me * kLargeCount + i);
      case LargeForm::allGather:
      case LargeForm::gather:
        return input(static_cast<int>(i / kLargeCount), within);
      case LargeForm::allToAll:
        return input(static_cast<int>(i / kLargeCount), me * kLargeCount + within);
      default:
        break;
    }
    int32_t sum = 0;
    for (int r = 0; r < ranks; ++r) sum += input(r, form == LargeForm::reduceScatter ? me * kLargeCount + i : i);
    return sum;
  }

  dfcclResult_t run(const int32_t* send, int32_t* recv, dfcclGroup_t group, cudaStream_t stream,
                    dfcclRequest_t* request = nullptr) const {
    switch (form) {
      case LargeForm::allReduce:
        return dfcclAllReduce(send, recv, kLargeCount, dfcclInt32, dfcclSum, group, 0, stream, request);
      case LargeForm::reduce:
        return dfcclReduce(send, recv, kLargeCount, dfcclInt32, dfcclSum, kLargeRoot, group, 0, stream, request);
      case LargeForm::broadcast:
        return dfcclBroadcast(send, recv, kLargeCount, dfcclInt32, kLargeRoot, group, 0, stream, request);
      case LargeForm::allGather:
        return dfcclAllGather(send, recv, kLargeCount, dfcclInt32, group, 0, stream, request);
      case LargeForm::reduceScatter:
        return dfcclReduceScatter(send, recv, kLargeCount, dfcclInt32, dfcclSum, group, 0, stream, request);
      case LargeForm::allToAll:
        return dfcclAllToAll(send, recv, kLargeCount, dfcclInt32, group, 0, stream, request);
      case LargeForm::gather:
        return dfcclGather(send, recv, kLargeCount, dfcclInt32, kLargeRoot, group, 0, stream, request);
      case LargeForm::scatter:
        return dfcclScatter(send, recv, kLargeCount, dfcclInt32, kLargeRoot, group, 0, stream, request);
    }
    return dfcclInvalidArgument;
  }

 private:
  size_t many() const { return static_cast<size_t>(ranks); }
  bool isOf(std::initializer_list<LargeForm> forms) const {
    return std::find(forms.begin(), forms.end(), form) != forms.end();
  }
};

struct LargeBuffers {
  LargeBuffers(const GpuRanks& ranks, int rank)
      : stream(ranks.device(rank)),
        count(static_cast<size_t>(ranks.size()) * kLargeCount),
        send(ranks.device(rank), count),
        recv(ranks.device(rank), count) {}

  Stream stream;
  size_t count;
  DeviceArray<int32_t> send, recv;
};

std::vector<int32_t> inputsOf(const LargeSide& side, size_t count) {
  std::vector<int32_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = side.input(side.rank, i);
  return values;
}

void checkResult(const LargeSide& side, const std::vector<int32_t>& got, size_t at) {
  if (!side.receives()) return;
  size_t wrong = 0;
  for (size_t i = 0; i < side.recvSegments() * kLargeCount; ++i) wrong += got[at + i] != side.expected(i);
  CHECK(wrong == 0);
}

void checkForm(const GpuRanks& ranks, const GroupsInStreams& groups, const std::vector<LargeBuffers>& buffers,
               LargeForm form, bool isInPlace, int round) {
  INFO("form ", static_cast<int>(form), isInPlace ? " in place" : "", ", round ", round);
  std::vector<dfcclRequest_t> requests(buffers.size());
  for (int r = 0; r < ranks.size(); ++r) {
    const LargeBuffers& b = buffers[static_cast<size_t>(r)];
    const LargeSide side{form, r, ranks.size(), round};
    const size_t sendAt = isInPlace ? side.sendAt() : 0;
    std::vector<int32_t> all(b.count, -1);
    const std::vector<int32_t> input = inputsOf(side, side.sendSegments() * kLargeCount);
    std::copy(input.begin(), input.end(), all.begin() + static_cast<std::ptrdiff_t>(sendAt));
    b.send.set(all);
    int32_t* const recv = isInPlace ? b.send.data() + side.recvAt() : b.recv.data();
    CHECK_OK(side.run(b.send.data() + sendAt, recv, groups[r], b.stream, &requests[static_cast<size_t>(r)]));
  }
  CHECK_OK(dfcclWaitRuns(requests.data(), ranks.size(), 0));
  for (int r = 0; r < ranks.size(); ++r) {
    const LargeBuffers& b = buffers[static_cast<size_t>(r)];
    const LargeSide side{form, r, ranks.size(), round};
    checkResult(side, isInPlace ? b.send.get() : b.recv.get(), isInPlace ? side.recvAt() : 0);
  }
}

std::vector<LargeBuffers> buffersOf(const GpuRanks& ranks) {
  std::vector<LargeBuffers> buffers;
  for (int r = 0; r < ranks.size(); ++r) buffers.emplace_back(ranks, r);
  return buffers;
}

}  // namespace

TEST_CASE("large runs in streams have the right results, out of place and in place") {
  for (const int size : {2, 3}) {
    const GpuRanks ranks(size);
    const GroupsInStreams groups(ranks, dfcclForAll, kMostLargeBytes);
    const std::vector<LargeBuffers> buffers = buffersOf(ranks);
    for (const LargeForm form : kLargeForms) {
      for (const bool isInPlace : {false, true}) {
        for (int round = 0; round < 3; ++round) checkForm(ranks, groups, buffers, form, isInPlace, round);
      }
    }
    CHECK_OK(ranks.waitAll());
  }
}

TEST_CASE("large runs of graphs have the right results, launch by launch") {
  const GpuRanks ranks(3);
  const Groups groups(ranks);
  const std::vector<LargeBuffers> buffers = buffersOf(ranks);
  for (const LargeForm form : kLargeForms) {
    INFO("form ", static_cast<int>(form));
    std::vector<Graph> graphs;
    for (int r = 0; r < ranks.size(); ++r) {
      const LargeBuffers& b = buffers[static_cast<size_t>(r)];
      const LargeSide side{form, r, ranks.size()};
      giveFirstWork(b.stream, b.recv.data());
      graphs.emplace_back(ranks.device(r), b.stream, [&] {
        dfcclRequest_t request = nullptr;
        CHECK_OK(side.run(b.send.data(), b.recv.data(), groups[r], b.stream, &request));
        CHECK_OK(dfcclWaitRunOnStream(request, b.stream));
        CHECK_OK(dfcclFreeRequest(request));
      });
    }
    for (int round = 0; round < 3; ++round) {
      for (int r = 0; r < ranks.size(); ++r) {
        const LargeBuffers& b = buffers[static_cast<size_t>(r)];
        const LargeSide side{form, r, ranks.size(), round};
        b.send.set(inputsOf(side, side.sendSegments() * kLargeCount));
      }
      for (int r = 0; r < ranks.size(); ++r)
        graphs[static_cast<size_t>(r)].launch(buffers[static_cast<size_t>(r)].stream);
      for (int r = 0; r < ranks.size(); ++r) {
        const LargeBuffers& b = buffers[static_cast<size_t>(r)];
        CHECK(b.stream.synchronize());
        checkResult({form, r, ranks.size(), round}, b.recv.get(), 0);
      }
    }
  }
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("large reductions of other types, operators and places, of more ranks than are summed up at once") {
  constexpr size_t kBytes = 1'200'000;
  const GpuRanks ranks(5, 1, 2);
  const GroupsInStreams groups(ranks, dfcclForAll, kMostLargeBytes);
  std::vector<LargeBuffers> buffers = buffersOf(ranks);
  const auto check = [&]<class T>(dfcclDataType_t type, dfcclRedOp_t op, T mine, T expected) {
    INFO("type ", static_cast<int>(type));
    constexpr size_t count = kBytes / sizeof(T) - 3;
    for (int r = 0; r < ranks.size(); ++r) {
      const LargeBuffers& b = buffers[static_cast<size_t>(r)];
      std::vector<int32_t> raw(b.count);
      T* const values = reinterpret_cast<T*>(raw.data());
      std::fill_n(values + 1, count, static_cast<T>(mine * static_cast<T>(r + 1)));
      b.send.set(raw);
    }
    for (int r = 0; r < ranks.size(); ++r) {
      const LargeBuffers& b = buffers[static_cast<size_t>(r)];
      // Each begins an element behind where its memory does, and nobody's ends with a line.
      CHECK_OK(dfcclAllReduce(reinterpret_cast<T*>(b.send.data()) + 1, reinterpret_cast<T*>(b.recv.data()) + 1, count,
                              type, op, groups[r], 0, b.stream, nullptr));
    }
    for (const LargeBuffers& b : buffers) {
      CHECK(b.stream.synchronize());
      const std::vector<int32_t> raw = b.recv.get();
      const T* const values = reinterpret_cast<const T*>(raw.data());
      CHECK(std::all_of(values + 1, values + 1 + count, [&](T value) { return value == expected; }));
    }
  };
  check(dfcclInt8, dfcclSum, int8_t{3}, int8_t{45});
  check(dfcclUint8, dfcclMax, uint8_t{40}, uint8_t{200});
  check(dfcclFloat32, dfcclAvg, 1.5F, 4.5F);
  check(dfcclFloat64, dfcclMin, 0.25, 0.25);
  check(dfcclInt64, dfcclProd, int64_t{2}, int64_t{32 * 120});
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("a program may have many more large signatures than a landing area of each would let it") {
  constexpr size_t kMost = 300'000;
  const GpuRanks ranks(4, 1, 2, 0, size_t{128} << 20);
  const GroupsInStreams groups(ranks, dfcclForAll, kMostLargeBytes);
  const std::vector<Member> members = membersWith(ranks, kMost);
  for (size_t count = kMost - 80; count <= kMost; ++count) {
    for (int r = 0; r < ranks.size(); ++r) {
      const Member& m = members[static_cast<size_t>(r)];
      m.fill();
      CHECK_OK(sum(m, count, groups[r], 0, m.stream));
    }
  }
  for (const Member& m : members) {
    m.read();
    CHECK(m.stream.synchronize());
    CHECK(m.output.isAll(sumOfInputs(ranks)));
  }
  CHECK_OK(ranks.waitAll());
}

TEST_CASE("large runs in streams that are given up move nothing behind their end") {
  for (int round = 0; round < 10; ++round) {
    const GpuRanks ranks;
    const GroupsInStreams groups(ranks, dfcclForAll, kMostLargeBytes);
    const std::vector<Member> members = membersWith(ranks, kLargeCount);
    std::vector<dfcclRequest_t> requests(members.size());
    // The last one doesn't come, or comes when the others are given up.
    const int last = ranks.size() - 1;
    for (int r = 0; r < last; ++r) {
      const Member& m = members[static_cast<size_t>(r)];
      m.fill();
      CHECK_OK(sum(m, kLargeCount, groups[r], 0, m.stream, &requests[static_cast<size_t>(r)]));
    }
    std::thread late([&] {
      if (round % 2 != 0) return;
      const Member& m = members[static_cast<size_t>(last)];
      sum(m, kLargeCount, groups[last], 0, m.stream, &requests[static_cast<size_t>(last)]);
    });
    CHECK_OK(dfcclGroupAbort(groups[0]));
    late.join();
    const dfcclResult_t ended = dfcclWaitRun(requests[0], 0);
    CHECK((ended == dfcclAborted || ended == dfcclSuccess));
    CHECK(members[0].stream.synchronize());
    // From here on its buffers are its caller's.
    const std::vector<int32_t> mine(kLargeCount, -7);
    members[0].recv.set(mine);
    for (int r = 1; r < ranks.size(); ++r) {
      CHECK_OK(dfcclGroupAbort(groups[r]));
      if (requests[static_cast<size_t>(r)] != nullptr) dfcclWaitRun(requests[static_cast<size_t>(r)], 0);
      CHECK(members[static_cast<size_t>(r)].stream.synchronize());
    }
    CHECK(members[0].recv.get() == mine);
  }
}
