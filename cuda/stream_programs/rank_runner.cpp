#include "stream_programs/rank_runner.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "stream_programs/cuda_calls.hpp"
#include "stream_programs/library_calls.hpp"

namespace dfccl::gpu::programs {
namespace {

constexpr size_t kHostBytes = 64 << 10;

/// Of this process: each is a module that nobody has used yet.
std::atomic<uint32_t> nextModule{0};

}  // namespace

RankRunner::RankRunner(int rank, uint32_t ranks, dfcclRankCtx_t context, SharedPage& page)
    : rank_(rank), ranks_(ranks), context_(context), page_(page), place_(page.ranks[rank]) {
  PROGRAMS_CUDA(cudaStreamCreateWithFlags(&own_, cudaStreamNonBlocking));
  void* memory = nullptr;
  PROGRAMS_CUDA(cudaMalloc(&memory, sizeof(Verdict) + sizeof(uint32_t)));
  PROGRAMS_CUDA(cudaMemsetAsync(memory, 0, sizeof(Verdict) + sizeof(uint32_t), own_));
  PROGRAMS_CUDA(cudaStreamSynchronize(own_));
  verdict_ = static_cast<Verdict*>(memory);
  moduleCounter_ = reinterpret_cast<uint32_t*>(verdict_ + 1);
  hostMemory_ = std::aligned_alloc(4096, kHostBytes);
}

std::string RankRunner::run(const Program& program, int firstId) {
  program_ = &program;
  firstId_ = firstId;
  streams_.begin(program.streams[static_cast<size_t>(rank_)]);
  for (size_t i = 0; i < program.collectives.size(); ++i) {
    const Collective& c = program.collectives[i];
    if (positionOf(c, rank_) >= 0) registerCollective(c, idOf(static_cast<int>(i)), static_cast<int>(i % 3), context_);
  }
  captureGraphs();
  // Aborting what another rank has yet to register is nothing that the API speaks of.
  if (program.aborts) meet();
  const std::vector<Step>& steps = program.steps[static_cast<size_t>(rank_)];
  place_.step = 0;
  place_.seed = program.seed;
  for (const Step& step : steps) {
    perform(step);
    ++place_.step;
    ++place_.moves;
  }
  finish();
  const std::string wrong = verdict();
  for (const CapturedGraph& graph : graphs_) {
    if (graph.launched == nullptr) continue;
    PROGRAMS_CUDA(cudaGraphExecDestroy(graph.launched));
    PROGRAMS_CUDA(cudaEventDestroy(graph.over));
  }
  graphs_.clear();
  buffers_.giveAllBack(own_);
  for (size_t i = 0; i < program.collectives.size(); ++i) {
    if (positionOf(program.collectives[i], rank_) >= 0) {
      PROGRAMS_OK(dfcclUnregister(idOf(static_cast<int>(i)), context_));
    }
  }
  runs_.clear();
  ++place_.moves;
  return wrong;
}

void RankRunner::perform(const Step& step) {
  const cudaStream_t stream = step.stream >= 0 ? streams_[step.stream] : own_;
  switch (step.action) {
    case Action::run:
      return submit(step);
    case Action::waitOnStream:
      return letWait(step);
    case Action::launchGraph:
      return launchGraph(step);
    case Action::hostWait:
      return PROGRAMS_OK(dfcclWaitFor(0, context_));
    case Action::poll:
      return PROGRAMS_OK(dfcclPoll(nullptr, context_));
    case Action::meet:
      return meet();
    case Action::renew:
      PROGRAMS_OK(dfcclUnregister(idOf(step.collective), context_));
      return registerCollective(program_->collectives[static_cast<size_t>(step.collective)], idOf(step.collective), 0,
                                context_);
    case Action::abort:
      return PROGRAMS_OK(dfcclAbort(idOf(step.collective), context_));
    case Action::compute:
      return PROGRAMS_CUDA(launchCompute(step.amount, stream));
    case Action::module:
      ++modulesLaunched_;
      return PROGRAMS_CUDA(launchOfModule(nextModule++, moduleCounter_, stream));
    case Action::malloc:
      return buffers_.addDecoy(size_t{step.amount} << 12);
    case Action::free:
      return buffers_.freeDecoy();
    case Action::hostMalloc:
      return buffers_.addHostDecoy(size_t{step.amount} << 10);
    case Action::hostFree:
      return buffers_.freeHostDecoy();
    case Action::hostRegister:
      return registerHostMemory();
    case Action::limit:
      return setLimit();
    case Action::poolRound:
      return poolRound(step);
    case Action::event:
      return recordEvent(step);
    case Action::renewStream:
      return streams_.renew(step.stream);
    case Action::synchronize:
      return PROGRAMS_CUDA(cudaStreamSynchronize(stream));
    case Action::synchronizeAll:
      return PROGRAMS_CUDA(cudaDeviceSynchronize());
  }
}

void RankRunner::submit(const Step& step) {
  const Collective& c = program_->collectives[static_cast<size_t>(step.collective)];
  const bool isBehind = step.stream >= 0;
  const cudaStream_t stream = isBehind ? streams_[step.stream] : own_;
  const RunPatterns patterns = patternsOf(*program_, step.collective, step.run, rank_);
  const size_t inputBytes = bytesOf(patterns.input, c.type), outputBytes = bytesOf(patterns.output, c.type);
  void* const input =
      buffers_.take(step.isInPlace ? std::max(inputBytes, outputBytes) : inputBytes, step.place, stream);
  void* const output = step.isInPlace ? input : buffers_.take(outputBytes, step.place, stream);
  if (!step.isInPlace && output != nullptr) PROGRAMS_CUDA(cudaMemsetAsync(output, 0xa5, outputBytes, stream));
  if (inputBytes != 0) PROGRAMS_CUDA(launchFill(input, c.type, patterns.input, stream));
  // What is behind nothing must have its input by now.
  if (!isBehind) PROGRAMS_CUDA(cudaStreamSynchronize(stream));
  runs_.push_back({step.collective, step.run, output, patterns.output, c.type});
  const auto note = [](void* run, dfcclResult_t status) { static_cast<Run*>(run)->status = status; };
  const auto queue = [&] {
    const int id = idOf(step.collective);
    return isBehind ? dfcclRunOnStream(input, output, id, reinterpret_cast<dfcclStream_t>(stream), note, &runs_.back(),
                                       context_)
                    : dfcclRun(input, output, id, note, &runs_.back(), context_);
  };
  dfcclResult_t result;
  while ((result = queue()) == dfcclQueueFull) {
    PROGRAMS_OK(dfcclPoll(nullptr, context_));
    std::this_thread::yield();
  }
  must(result, isBehind ? "dfcclRunOnStream" : "dfcclRun");
}

void RankRunner::letWait(const Step& step) {
  const cudaStream_t stream = streams_[step.stream];
  PROGRAMS_OK(dfcclWaitOnStream(idOf(step.collective), reinterpret_cast<dfcclStream_t>(stream), context_));
  if (program_->collectives[static_cast<size_t>(step.collective)].isAborted) return;
  // What a kernel sees that comes behind the wait: the last runs, as a program uses them.
  constexpr int kMostChecks = 2;
  int checks = 0;
  for (auto run = runs_.rbegin(); run != runs_.rend() && checks < kMostChecks; ++run) {
    if (run->collective != step.collective) continue;
    checkResult(*run, stream);
    ++checks;
  }
}

void RankRunner::checkResult(const Run& run, cudaStream_t stream) {
  if (run.pattern.blocks == 0) return;
  const uint32_t number = static_cast<uint32_t>(run.collective) << 16 | run.number;
  PROGRAMS_CUDA(launchCheck(run.result, run.type, run.pattern, verdict_, number, stream));
}

void RankRunner::recordEvent(const Step& step) {
  cudaEvent_t event = nullptr;
  PROGRAMS_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  PROGRAMS_CUDA(cudaEventRecord(event, streams_[step.stream]));
  PROGRAMS_CUDA(cudaStreamWaitEvent(streams_[step.other], event, 0));
  PROGRAMS_CUDA(cudaEventDestroy(event));
}

void RankRunner::poolRound(const Step& step) {
  const cudaStream_t stream = streams_[step.stream];
  const size_t bytes = size_t{step.amount} << 10;
  void* memory = nullptr;
  PROGRAMS_CUDA(cudaMallocAsync(&memory, bytes, stream));
  PROGRAMS_CUDA(cudaMemsetAsync(memory, 1, bytes, stream));
  PROGRAMS_CUDA(cudaFreeAsync(memory, stream));
}

void RankRunner::registerHostMemory() {
  PROGRAMS_CUDA(cudaHostRegister(hostMemory_, kHostBytes, cudaHostRegisterDefault));
  PROGRAMS_CUDA(cudaHostUnregister(hostMemory_));
}

void RankRunner::setLimit() {
  constexpr size_t kLimits[] = {2048, 1024, 4096};
  PROGRAMS_CUDA(cudaDeviceSetLimit(cudaLimitStackSize, kLimits[limits_++ % 3]));
}

/// Behind the last step: all runs are over, their results looked at, no buffer is used any more.
void RankRunner::finish() {
  PROGRAMS_OK(dfcclWaitFor(0, context_));
  ++place_.moves;
  if (program_->aborts) leaveQuarantine();
  streams_.synchronizeAll();
  ++place_.moves;
  for (const Run& run : runs_) {
    if (run.status == dfcclSuccess) checkResult(run, own_);
  }
  PROGRAMS_CUDA(cudaStreamSynchronize(own_));
}

/// Quarantine ends when all ranks have given the id up: so all have come here.
void RankRunner::leaveQuarantine() {
  meet();
  for (size_t i = 0; i < program_->collectives.size(); ++i) {
    const auto collective = static_cast<int>(i);
    if (positionOf(program_->collectives[i], rank_) < 0 || !wasAborted(collective)) continue;
    for (int isOver = 0; isOver == 0;) {
      PROGRAMS_OK(dfcclPoll(nullptr, context_));
      PROGRAMS_OK(dfcclIsQuarantineOver(idOf(collective), &isOver, context_));
      std::this_thread::yield();
    }
  }
  meet();
}

bool RankRunner::wasAborted(int collective) const {
  return std::any_of(program_->steps.begin(), program_->steps.end(), [=](const std::vector<Step>& steps) {
    return std::any_of(steps.begin(), steps.end(),
                       [=](const Step& step) { return step.action == Action::abort && step.collective == collective; });
  });
}

std::string RankRunner::verdict() {
  struct {
    Verdict verdict;
    uint32_t modules;
  } seen{};
  PROGRAMS_CUDA(cudaMemcpyAsync(&seen, verdict_, sizeof seen, cudaMemcpyDeviceToHost, own_));
  PROGRAMS_CUDA(cudaMemsetAsync(verdict_, 0, sizeof seen, own_));
  PROGRAMS_CUDA(cudaStreamSynchronize(own_));
  const uint32_t launched = modulesLaunched_;
  modulesLaunched_ = 0;
  if (seen.verdict.wrong != 0) {
    const uint32_t first = seen.verdict.first - 1;
    return std::to_string(seen.verdict.wrong) + " elements are wrong, among them of run " +
           std::to_string(first >> 16) + "." + std::to_string(first & 0xffff);
  }
  if (seen.modules != launched) {
    return std::to_string(launched) + " kernels of new modules were launched, " + std::to_string(seen.modules) + " ran";
  }
  for (const Run& run : runs_) {
    const bool mayBeAborted = program_->collectives[static_cast<size_t>(run.collective)].isAborted;
    if (run.status == dfcclSuccess || (mayBeAborted && run.status == dfcclAborted)) continue;
    return "run " + std::to_string(run.collective) + "." + std::to_string(run.number) + " ended with status " +
           std::to_string(run.status) + (run.status == dfcclInUse ? ": its callback wasn't called" : "");
  }
  return "";
}

}  // namespace dfccl::gpu::programs
