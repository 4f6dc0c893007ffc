#include "nccl/nccl.hpp"

#include "host/driver/check.hpp"

namespace dfccl::gpu {

Nccl::Nccl(const std::string& library, const std::vector<int>& devices)
    : library_(library), communicators_(devices.size()) {
  library_.check(library_.initializeAll(communicators_.data(), static_cast<int>(devices.size()), devices.data()),
                 "ncclCommInitAll");
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

}  // namespace dfccl::gpu
