#include "device/captured/captured_run.cuh"

#include <iterator>

#include "device/captured/kernel/captured_block.cuh"

namespace dfccl::gpu {
namespace {

template <int32_t kForm, bool kInStream>
__global__ void __launch_bounds__(kCapturedWorkers) capturedKernel(const __grid_constant__ CapturedRun run) {
  __shared__ CapturedShared shared;
  if (run.state == nullptr) return;  // see prepareCapturedRuns()
  CapturedSequence alone{1};
  CapturedBlock<kForm, kInStream>(run, blockIdx.x, shared).carryOut(alone);
}

constexpr int32_t kForms[] = {CapturedForm::any,
                              CapturedForm::large,
                              CapturedForm::message + 1,
                              CapturedForm::message + 4,
                              CapturedForm::message + 8,
                              CapturedForm::copies + 1,
                              CapturedForm::copies + 4,
                              CapturedForm::copies + 8,
                              CapturedForm::reduction + 1,
                              CapturedForm::reduction + 4,
                              CapturedForm::reduction + 8,
                              CapturedForm::wholeSum + 1,
                              CapturedForm::wholeSum + 2,
                              CapturedForm::wholeSum + 4,
                              CapturedForm::wholeSum + 8,
                              CapturedForm::wideSum + 1,
                              CapturedForm::wideSum + 2,
                              CapturedForm::wideSum + 4,
                              CapturedForm::wideReduction + 1,
                              CapturedForm::wideReduction + 4};

/// The first of the forms from `kFirst` on that is the run's, called by its number. @pre it is one of them
template <size_t kFirst = 0, class Call>
__host__ __device__ auto withForm(int32_t form, const Call& call) {
  constexpr int32_t kForm = kForms[kFirst];
  if constexpr (kFirst + 1 == std::size(kForms)) {
    return call.template operator()<kForm>();
  } else {
    return form == kForm ? call.template operator()<kForm>() : withForm<kFirst + 1>(form, call);
  }
}

/// Several runs in a stream. A block is a lane of a member's.
/// @tparam kSequences a member may have several: the loop costs a batch of two runs 1 us, and more
template <uint32_t kRuns, bool kSequences>
__global__ void __launch_bounds__(kCapturedWorkers)
    capturedRunsKernel(const __grid_constant__ CapturedRunsOf<kRuns> runs) {
  __shared__ CapturedShared shared;
  uint32_t mine = 0;
  while (mine < runs.members && blockIdx.x >= runs.lanesBefore[mine + 1]) ++mine;
  if (mine == runs.members) return;  // see prepareCapturedRuns()
  const uint32_t lane = blockIdx.x - runs.lanesBefore[mine];
  const auto carryOut = [&](const CapturedRun& run, CapturedSequence& sequence) {
    return withForm(run.form,
                    [&]<int32_t kForm>() { return CapturedBlock<kForm, true>(run, lane, shared).carryOut(sequence); });
  };
  if constexpr (!kSequences) {
    CapturedSequence alone{1};
    carryOut(runs.runs[mine], alone);
  } else {
    CapturedSequence sequence{runs.runsBefore[mine + 1] - uint32_t{runs.runsBefore[mine]}};
    for (uint32_t i = runs.runsBefore[mine]; carryOut(runs.runs[i], sequence); ++i) __syncthreads();
  }
}

template <bool kInStream>
const void* kernelOf(const CapturedRun& run) {
  return withForm(run.form,
                  []<int32_t kForm>() { return reinterpret_cast<const void*>(capturedKernel<kForm, kInStream>); });
}

template <class Parameters>
cudaError_t launch(const void* kernel, uint32_t blocks, const Parameters& parameters, cudaStream_t stream) {
  void* arguments[] = {const_cast<Parameters*>(&parameters)};
  return cudaLaunchKernel(kernel, dim3(blocks), dim3(kCapturedWorkers), arguments, 0, stream);
}

template <uint32_t kRuns>
const void* kernelOfSeveral(bool hasSequences) {
  return hasSequences ? reinterpret_cast<const void*>(capturedRunsKernel<kRuns, true>)
                      : reinterpret_cast<const void*>(capturedRunsKernel<kRuns, false>);
}

template <uint32_t kRuns>
cudaError_t launchTogether(const CapturedRun* runs, uint32_t count, cudaStream_t stream) {
  CapturedRunsOf<kRuns> together{};
  uint32_t& members = together.members;
  for (uint32_t i = 0; i < count; ++i) {
    together.runs[i] = runs[i];
    if (i == 0 || runs[i].state != runs[i - 1].state) {
      ++members;
      together.lanesBefore[members] = together.lanesBefore[members - 1] + runs[i].layout.lanes;
    }
    together.runsBefore[members] = static_cast<uint8_t>(i + 1);
  }
  return launch(kernelOfSeveral<kRuns>(members != count), together.lanesBefore[members], together, stream);
}

template <uint32_t kRuns>
cudaError_t prepareTogether(cudaStream_t stream) {
  for (const bool hasSequences : {false, true}) {
    const cudaError_t error = launch(kernelOfSeveral<kRuns>(hasSequences), 1, CapturedRunsOf<kRuns>{}, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t prepareCapturedRuns(cudaStream_t stream) {
  for (const int32_t form : kForms) {
    CapturedRun none{};
    none.form = form;
    for (const void* const kernel : {kernelOf<false>(none), kernelOf<true>(none)}) {
      const cudaError_t error = launch(kernel, 1, none, stream);
      if (error != cudaSuccess) return error;
    }
  }
  const cudaError_t error = prepareTogether<kFewCapturedRuns>(stream);
  return error != cudaSuccess ? error : prepareTogether<kMostCapturedRuns>(stream);
}

cudaError_t launchCapturedRuns(const CapturedRun* runs, uint32_t count, cudaStream_t stream) {
  if (count == 1) return launch(kernelOf<true>(*runs), runs->layout.lanes, *runs, stream);
  return count <= kFewCapturedRuns ? launchTogether<kFewCapturedRuns>(runs, count, stream)
                                   : launchTogether<kMostCapturedRuns>(runs, count, stream);
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
