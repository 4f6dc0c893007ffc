#include "device/captured/captured_run.cuh"

#include <vector>

#include "device/captured/kernel/captured_block.cuh"

namespace dfccl::gpu {
namespace {

template <int kLines, bool kInStream>
__global__ void __launch_bounds__(kCapturedWorkers) capturedKernel(const __grid_constant__ CapturedRun run) {
  __shared__ CapturedShared shared;
  if (run.state == nullptr) return;  // see prepareCapturedRuns()
  CapturedBlock<kLines, kInStream>(run, blockIdx.x, shared).carryOut();
}

/// Several runs in a stream.
__global__ void __launch_bounds__(kCapturedWorkers) capturedRunsKernel(const __grid_constant__ CapturedRuns runs) {
  __shared__ CapturedShared shared;
  uint32_t mine = 0;
  while (mine < runs.count && blockIdx.x >= runs.lanesBefore[mine + 1]) ++mine;
  if (mine == runs.count) return;  // see prepareCapturedRuns()
  const CapturedRun& run = runs.runs[mine];
  const uint32_t lane = blockIdx.x - runs.lanesBefore[mine];
  if (run.layout.isLarge) return CapturedBlock<kLargeRun, true>(run, lane, shared).carryOut();
  switch (run.heldLines) {
    case 1:
      return CapturedBlock<1, true>(run, lane, shared).carryOut();
    case 2:
      return CapturedBlock<2, true>(run, lane, shared).carryOut();
    case 4:
      return CapturedBlock<4, true>(run, lane, shared).carryOut();
    case 8:
      return CapturedBlock<8, true>(run, lane, shared).carryOut();
    default:
      return CapturedBlock<0, true>(run, lane, shared).carryOut();
  }
}

template <bool kInStream>
const void* kernelOf(const CapturedRun& run) {
  if (run.layout.isLarge) return reinterpret_cast<const void*>(capturedKernel<kLargeRun, kInStream>);
  switch (run.heldLines) {
    case 1:
      return reinterpret_cast<const void*>(capturedKernel<1, kInStream>);
    case 2:
      return reinterpret_cast<const void*>(capturedKernel<2, kInStream>);
    case 4:
      return reinterpret_cast<const void*>(capturedKernel<4, kInStream>);
    case 8:
      return reinterpret_cast<const void*>(capturedKernel<8, kInStream>);
    default:
      return reinterpret_cast<const void*>(capturedKernel<0, kInStream>);
  }
}

template <class Parameters>
cudaError_t launch(const void* kernel, uint32_t blocks, const Parameters& parameters, cudaStream_t stream) {
  void* arguments[] = {const_cast<Parameters*>(&parameters)};
  return cudaLaunchKernel(kernel, dim3(blocks), dim3(kCapturedWorkers), arguments, 0, stream);
}

const void* kernelOfSeveral() { return reinterpret_cast<const void*>(capturedRunsKernel); }

}  // namespace

cudaError_t prepareCapturedRuns(cudaStream_t stream) {
  CapturedRun large{};
  large.layout.isLarge = true;
  std::vector<CapturedRun> forms{large};
  for (const uint32_t heldLines : {0, 1, 2, 4, 8}) {
    forms.emplace_back();
    forms.back().heldLines = heldLines;
  }
  for (const CapturedRun& form : forms) {
    for (const void* const kernel : {kernelOf<false>(form), kernelOf<true>(form)}) {
      const cudaError_t error = launch(kernel, 1, CapturedRun{}, stream);
      if (error != cudaSuccess) return error;
    }
  }
  return launch(kernelOfSeveral(), 1, CapturedRuns{}, stream);
}

cudaError_t launchCapturedRuns(const CapturedRun* runs, uint32_t count, cudaStream_t stream) {
  if (count == 1) return launch(kernelOf<true>(*runs), runs->layout.lanes, *runs, stream);
  CapturedRuns together{};
  together.count = count;
  for (uint32_t i = 0; i < count; ++i) {
    together.runs[i] = runs[i];
    together.lanesBefore[i + 1] = together.lanesBefore[i] + runs[i].layout.lanes;
  }
  return launch(kernelOfSeveral(), together.lanesBefore[count], together, stream);
}

cudaError_t addCapturedRun(cudaGraph_t graph, const cudaGraphNode_t* behind, size_t count, const CapturedRun& run,
                           cudaGraphNode_t* node) {
  void* arguments[] = {const_cast<CapturedRun*>(&run)};
  cudaKernelNodeParams parameters{};
  parameters.func = const_cast<void*>(kernelOf<false>(run));
  parameters.gridDim = dim3(run.layout.lanes);
  parameters.blockDim = dim3(kCapturedWorkers);
  parameters.kernelParams = arguments;
  return cudaGraphAddKernelNode(node, graph, behind, count, &parameters);
}

}  // namespace dfccl::gpu
