#pragma once
// Graphs that one rank captures and launches.
#include "bench/all_reduces.hpp"
#include "host/driver/check.hpp"

namespace dfccl::gpu::bench {

/// A graph of one rank's, launched into a stream of it.
class Graph {
 public:
  template <class Record>
  Graph(cudaStream_t stream, const Record& record) : stream_(stream) {
    DFCCL_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    record();
    cudaGraph_t graph = nullptr;
    DFCCL_CUDA(cudaStreamEndCapture(stream, &graph));
    DFCCL_CUDA(cudaGraphInstantiate(&made_, graph, 0));
    DFCCL_CUDA(cudaGraphDestroy(graph));
    DFCCL_CUDA(cudaGraphUpload(made_, stream));
    DFCCL_CUDA(cudaStreamSynchronize(stream));
  }
  ~Graph() { cudaGraphExecDestroy(made_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch() const { DFCCL_CUDA(cudaGraphLaunch(made_, stream_)); }
  void synchronize() const { DFCCL_CUDA(cudaStreamSynchronize(stream_)); }

 private:
  const cudaStream_t stream_;
  cudaGraphExec_t made_ = nullptr;
};

/// An all-reduce of floats on all ranks, as a graph carries it out. @param graph see GraphNumbers @return its index
inline uint32_t registerCaptured(Bed& bed, uint32_t rank, uint32_t id, uint32_t graph, uint64_t count) {
  CollectiveSpec spec;
  spec.id = CollectiveId(id).ofCaptured(graph);
  spec.signature.graph = graph;
  spec.count = count;
  spec.ranks = everyRank(bed.ranks());
  return bed.world().registerCollective(rank, spec);
}

/// So many runs of it, one behind the other, into the graph that the stream captures.
inline void captureChain(Bed& bed, uint32_t rank, uint32_t index, uint64_t length, const void* send, void* recv,
                         cudaStream_t stream) {
  for (uint64_t i = 0; i < length; ++i) {
    bed.world().letGraphWait(rank, bed.world().captureRun(rank, index, send, recv, stream), stream);
  }
}

}  // namespace dfccl::gpu::bench
