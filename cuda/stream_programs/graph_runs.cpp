// A rank's graphs: captured at a program's beginning, launched wherever a step says so.
#include "stream_programs/cuda_calls.hpp"
#include "stream_programs/library_calls.hpp"
#include "stream_programs/rank_runner.hpp"

namespace dfccl::gpu::programs {

void RankRunner::captureGraphs() {
  for (size_t i = 0; i < program_->graphs.size(); ++i) {
    CapturedGraph& graph = graphs_.emplace_back();
    if (!takesPart(*program_, static_cast<int>(i), rank_)) continue;
    for (const int collective : program_->graphs[i].collectives) {
      const Collective& c = program_->collectives[static_cast<size_t>(collective)];
      const bool isPart = positionOf(c, rank_) >= 0;
      const RunPatterns patterns = isPart ? patternsOf(*program_, collective, 0, rank_) : RunPatterns{};
      const size_t inputBytes = bytesOf(patterns.input, c.type), outputBytes = bytesOf(patterns.output, c.type);
      graph.runs.push_back({collective, c.type, buffers_.take(inputBytes, BufferKind::kept, own_),
                            buffers_.take(outputBytes, BufferKind::kept, own_)});
    }
    PROGRAMS_CUDA(cudaEventCreateWithFlags(&graph.over, cudaEventDisableTiming));
    PROGRAMS_CUDA(cudaStreamBeginCapture(own_, cudaStreamCaptureModeThreadLocal));
    for (const GraphRun& run : graph.runs) captureRun(run);
    cudaGraph_t captured = nullptr;
    PROGRAMS_CUDA(cudaStreamEndCapture(own_, &captured));
    PROGRAMS_CUDA(cudaGraphInstantiate(&graph.launched, captured, 0));
    PROGRAMS_CUDA(cudaGraphDestroy(captured));
  }
}

void RankRunner::captureRun(const GraphRun& run) {
  if (positionOf(program_->collectives[static_cast<size_t>(run.collective)], rank_) < 0) return;
  const int id = idOf(run.collective);
  auto* const stream = reinterpret_cast<dfcclStream_t>(own_);
  PROGRAMS_OK(dfcclRunOnStream(run.input, run.output, id, stream, nullptr, nullptr, context_));
  PROGRAMS_OK(dfcclWaitOnStream(id, stream, context_));
}

void RankRunner::launchGraph(const Step& step) {
  const cudaStream_t stream = streams_[step.stream];
  const CapturedGraph& graph = graphs_[static_cast<size_t>(step.graph)];
  PROGRAMS_CUDA(cudaStreamWaitEvent(stream, graph.over, 0));
  std::vector<Run> runs;
  for (size_t place = 0; place < graph.runs.size(); ++place) {
    const GraphRun& run = graph.runs[place];
    if (positionOf(program_->collectives[static_cast<size_t>(run.collective)], rank_) < 0) continue;
    const uint32_t number = numberInGraph(step.graph, step.run, place);
    const RunPatterns patterns = patternsOf(*program_, run.collective, number, rank_);
    if (run.input != nullptr) PROGRAMS_CUDA(launchFill(run.input, run.type, patterns.input, stream));
    const size_t outputBytes = bytesOf(patterns.output, run.type);
    if (outputBytes != 0) PROGRAMS_CUDA(cudaMemsetAsync(run.output, 0xa5, outputBytes, stream));
    runs.push_back({run.collective, number, run.output, patterns.output, run.type, dfcclSuccess});
  }
  PROGRAMS_CUDA(cudaGraphLaunch(graph.launched, stream));
  for (const Run& run : runs) checkResult(run, stream);
  PROGRAMS_CUDA(cudaEventRecord(graph.over, stream));
}

}  // namespace dfccl::gpu::programs
