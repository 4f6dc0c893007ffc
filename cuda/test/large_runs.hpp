#pragma once
// Collectives that are so large that their members move straight from and to each other's buffers, and what each rank
// is to have of them.
#include "graphs.hpp"
#include "in_streams.hpp"

namespace dfccl::gpu::test {

inline constexpr int kLargeRoot = 1;
inline constexpr size_t kMostLargeBytes = size_t{1} << 30;
// No share of it, nor a lane's, ends where a line of 16 bytes does.
inline constexpr size_t kLargeCount = 150'001;

enum class LargeForm { allReduce, reduce, broadcast, allGather, reduceScatter, allToAll, gather, scatter };
inline constexpr LargeForm kLargeForms[] = {LargeForm::allReduce, LargeForm::reduce,        LargeForm::broadcast,
                                            LargeForm::allGather, LargeForm::reduceScatter, LargeForm::allToAll,
                                            LargeForm::gather,    LargeForm::scatter};

inline int32_t inputOf(int rank, size_t i) {
  return static_cast<int32_t>(1'000'003 * (rank + 1) + 7 * static_cast<int>(i));
}

/// Of one rank, and what it is to have of it. @param round makes inputs differ
struct LargeSide {
  LargeForm form;
  int rank, ranks;
  int round = 0;
  size_t count = kLargeCount;

  size_t sendSegments() const {
    return isOf({LargeForm::reduceScatter, LargeForm::allToAll, LargeForm::scatter}) ? many() : 1;
  }
  size_t recvSegments() const {
    return isOf({LargeForm::allGather, LargeForm::allToAll, LargeForm::gather}) ? many() : 1;
  }
  bool receives() const { return rank == kLargeRoot || !isOf({LargeForm::reduce, LargeForm::gather}); }
  /// Elements from the beginning of the larger buffer, which both are in, to each: as NCCL has it.
  size_t sendAt() const {
    return isOf({LargeForm::allGather, LargeForm::gather}) ? static_cast<size_t>(rank) * count : 0;
  }
  size_t recvAt() const {
    return isOf({LargeForm::reduceScatter, LargeForm::scatter}) ? static_cast<size_t>(rank) * count : 0;
  }

  int32_t input(int from, size_t i) const { return inputOf(from, i) + 31 * round; }
  int32_t expected(size_t i) const {
    const auto me = static_cast<size_t>(rank);
    const size_t within = i % count;
    switch (form) {
      case LargeForm::broadcast:
        return input(kLargeRoot, i);
      case LargeForm::scatter:
        return input(kLargeRoot, me * count + i);
      case LargeForm::allGather:
      case LargeForm::gather:
        return input(static_cast<int>(i / count), within);
      case LargeForm::allToAll:
        return input(static_cast<int>(i / count), me * count + within);
      default:
        break;
    }
    int32_t sum = 0;
    for (int r = 0; r < ranks; ++r) sum += input(r, form == LargeForm::reduceScatter ? me * count + i : i);
    return sum;
  }

  dfcclResult_t run(const int32_t* send, int32_t* recv, dfcclGroup_t group, cudaStream_t stream,
                    dfcclRequest_t* request = nullptr) const {
    switch (form) {
      case LargeForm::allReduce:
        return dfcclAllReduce(send, recv, count, dfcclInt32, dfcclSum, group, 0, stream, request);
      case LargeForm::reduce:
        return dfcclReduce(send, recv, count, dfcclInt32, dfcclSum, kLargeRoot, group, 0, stream, request);
      case LargeForm::broadcast:
        return dfcclBroadcast(send, recv, count, dfcclInt32, kLargeRoot, group, 0, stream, request);
      case LargeForm::allGather:
        return dfcclAllGather(send, recv, count, dfcclInt32, group, 0, stream, request);
      case LargeForm::reduceScatter:
        return dfcclReduceScatter(send, recv, count, dfcclInt32, dfcclSum, group, 0, stream, request);
      case LargeForm::allToAll:
        return dfcclAllToAll(send, recv, count, dfcclInt32, group, 0, stream, request);
      case LargeForm::gather:
        return dfcclGather(send, recv, count, dfcclInt32, kLargeRoot, group, 0, stream, request);
      case LargeForm::scatter:
        return dfcclScatter(send, recv, count, dfcclInt32, kLargeRoot, group, 0, stream, request);
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

inline std::vector<int32_t> inputsOf(const LargeSide& side, size_t count) {
  std::vector<int32_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = side.input(side.rank, i);
  return values;
}

inline void checkResult(const LargeSide& side, const std::vector<int32_t>& got, size_t at) {
  if (!side.receives()) return;
  size_t wrong = 0;
  for (size_t i = 0; i < side.recvSegments() * side.count; ++i) wrong += got[at + i] != side.expected(i);
  CHECK(wrong == 0);
}

/// @param count of a segment, no more than kLargeCount
/// @param skew elements by which the buffers begin behind an allocation's beginning
inline void checkForm(const GpuRanks& ranks, const GroupsInStreams& groups, const std::vector<LargeBuffers>& buffers,
                      LargeForm form, bool isInPlace, int round, size_t count = kLargeCount, size_t skew = 0) {
  INFO("form ", static_cast<int>(form), isInPlace ? " in place" : "", ", round ", round, ", count ", count);
  std::vector<dfcclRequest_t> requests(buffers.size());
  for (int r = 0; r < ranks.size(); ++r) {
    const LargeBuffers& b = buffers[static_cast<size_t>(r)];
    const LargeSide side{form, r, ranks.size(), round, count};
    const size_t sendAt = skew + (isInPlace ? side.sendAt() : 0);
    std::vector<int32_t> all(b.count, -1);
    const std::vector<int32_t> input = inputsOf(side, side.sendSegments() * count);
    std::copy(input.begin(), input.end(), all.begin() + static_cast<std::ptrdiff_t>(sendAt));
    b.send.set(all);
    int32_t* const recv = isInPlace ? b.send.data() + skew + side.recvAt() : b.recv.data() + skew;
    CHECK_OK(side.run(b.send.data() + sendAt, recv, groups[r], b.stream, &requests[static_cast<size_t>(r)]));
  }
  CHECK_OK(dfcclWaitRuns(requests.data(), ranks.size(), 0));
  for (int r = 0; r < ranks.size(); ++r) {
    const LargeBuffers& b = buffers[static_cast<size_t>(r)];
    const LargeSide side{form, r, ranks.size(), round, count};
    checkResult(side, isInPlace ? b.send.get() : b.recv.get(), skew + (isInPlace ? side.recvAt() : 0));
  }
}

inline std::vector<LargeBuffers> buffersOf(const GpuRanks& ranks) {
  std::vector<LargeBuffers> buffers;
  for (int r = 0; r < ranks.size(); ++r) buffers.emplace_back(ranks, r);
  return buffers;
}

}  // namespace dfccl::gpu::test
