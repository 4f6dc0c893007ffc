#pragma once
#include <deque>

#include "dfccl/dfccl.h"
#include "stream_programs/buffers.hpp"
#include "stream_programs/program.hpp"
#include "stream_programs/shared_page.hpp"
#include "stream_programs/streams_of_rank.hpp"
#include "stream_programs/user_kernels.hpp"

namespace dfccl::gpu::programs {

/// One rank that runs programs, on its own thread.
class RankRunner {
 public:
  /// @param ranks of the world @param page where it says how far it is
  RankRunner(int rank, uint32_t ranks, dfcclRankCtx_t context, SharedPage& page);

  /// @param firstId of the program's ids, the same on all ranks @return what was wrong; "" if nothing
  std::string run(const Program& program, int firstId);

 private:
  struct Run {
    int collective;
    uint32_t number;
    const void* result;
    Pattern pattern;
    ElementType type;
    dfcclResult_t status = dfcclInUse;  // until its callback
  };

  struct GraphRun {
    int collective;
    ElementType type;
    void *input, *output;
  };
  /// A planned graph, where this rank takes part in it.
  struct CapturedGraph {
    cudaGraphExec_t launched = nullptr;
    cudaEvent_t over = nullptr;  // behind the last launch, whose buffers the next one has, too
    std::vector<GraphRun> runs;  // by their places; without buffers where this rank takes no part
  };

  void captureGraphs();
  void captureRun(const GraphRun& run);
  void launchGraph(const Step& step);
  void perform(const Step& step);
  void submit(const Step& step);
  void letWait(const Step& step);
  void recordEvent(const Step& step);
  void poolRound(const Step& step);
  void registerHostMemory();
  void setLimit();
  void finish();
  void leaveQuarantine();
  void checkResult(const Run& run, cudaStream_t stream);
  std::string verdict();
  bool wasAborted(int collective) const;
  /// In the world.
  int idOf(int collective) const { return firstId_ + collective; }
  void meet() { page_.meet(ranks_); }

  const int rank_;
  const uint32_t ranks_;
  const dfcclRankCtx_t context_;
  SharedPage& page_;
  RankPlace& place_;
  cudaStream_t own_ = nullptr;  // for what is behind nothing
  StreamsOfRank streams_;
  Buffers buffers_;
  Verdict* verdict_ = nullptr;
  uint32_t* moduleCounter_ = nullptr;
  uint32_t modulesLaunched_ = 0;
  uint32_t limits_ = 0;
  void* hostMemory_ = nullptr;
  const Program* program_ = nullptr;
  int firstId_ = 0;
  std::deque<Run> runs_;  // of this program
  std::vector<CapturedGraph> graphs_;
};

}  // namespace dfccl::gpu::programs
