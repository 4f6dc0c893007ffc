#include "nccl/nccl.hpp"

#include "host/driver/check.hpp"

namespace dfccl::gpu {

Nccl::Nccl(const std::string& library, const std::vector<int>& devices)
    : Nccl(library, devices, {static_cast<uint32_t>(devices.size()), 0, [](const NcclUniqueId& own) { return own; }}) {}

Nccl::Nccl(const std::string& library, const std::vector<int>& devices, const Among& among)
    : library_(library), communicators_(devices.size()) {
  NcclUniqueId own{};
  if (among.first == 0) library_.check(library_.makeUniqueId(&own), "ncclGetUniqueId");
  const NcclUniqueId id = among.agreed(own);
  groupStart();
  for (size_t local = 0; local < devices.size(); ++local) {
    const OnDevice here(devices[local]);
    library_.check(library_.initializeRank(&communicators_[local], static_cast<int>(among.ranks), id,
                                           static_cast<int>(among.first + local)),
                   "ncclCommInitRank");
  }
  groupEnd();
  for (const int device : devices) {
    const OnDevice here(device);
    streams_.emplace_back();
    DFCCL_CUDA(cudaStreamCreateWithFlags(&streams_.back(), cudaStreamNonBlocking));
  }
}

void Nccl::allReduce(uint32_t rank, const void* send, void* recv, size_t count, cudaStream_t stream) {
  library_.check(library_.allReduce(send, recv, count, ncclTypeOf(DataType::float32), ncclOpOf(ReduceOp::sum),
                                    communicators_[rank], stream != nullptr ? stream : streams_[rank]),
                 "ncclAllReduce");
}

void Nccl::allGather(uint32_t rank, const void* send, void* recv, size_t count) {
  library_.check(
      library_.allGather(send, recv, count, ncclTypeOf(DataType::float32), communicators_[rank], streams_[rank]),
      "ncclAllGather");
}

void Nccl::send(uint32_t rank, const void* buffer, size_t count, uint32_t to) {
  library_.check(library_.send(buffer, count, ncclTypeOf(DataType::float32), static_cast<int>(to), communicators_[rank],
                               streams_[rank]),
                 "ncclSend");
}

void Nccl::receive(uint32_t rank, void* buffer, size_t count, uint32_t from) {
  library_.check(library_.receive(buffer, count, ncclTypeOf(DataType::float32), static_cast<int>(from),
                                  communicators_[rank], streams_[rank]),
                 "ncclRecv");
}

}  // namespace dfccl::gpu
