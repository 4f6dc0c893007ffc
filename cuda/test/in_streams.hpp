#pragma once
// Groups whose runs are kernels in streams.
#include "groups.hpp"
#include "stream_members.hpp"

namespace dfccl::gpu::test {

inline constexpr size_t kMostBytesInStreams = 64 << 10;

struct GroupsInStreams : Groups {
  explicit GroupsInStreams(const GpuRanks& ranks, dfcclReaders_t readers = dfcclForAll,
                           size_t mostBytes = kMostBytesInStreams, int mostBlocks = 0)
      : Groups(ranks) {
    for (int r = 0; r < ranks.size(); ++r) CHECK_OK(dfcclGroupRunInStreams((*this)[r], mostBytes, mostBlocks, readers));
  }
};

inline std::vector<Member> membersWith(const GpuRanks& ranks, size_t count) {
  std::vector<Member> members;
  for (int r = 0; r < ranks.size(); ++r) members.emplace_back(ranks, r, count);
  return members;
}

inline dfcclResult_t sum(const Member& m, size_t count, dfcclGroup_t group, uint64_t tag, cudaStream_t stream,
                         dfcclRequest_t* request = nullptr) {
  return dfcclAllReduce(m.send.data(), m.recv.data(), count, dfcclInt32, dfcclSum, group, tag, stream, request);
}

}  // namespace dfccl::gpu::test
