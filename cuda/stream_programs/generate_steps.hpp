#pragma once
#include <vector>

#include "stream_programs/draw.hpp"
#include "stream_programs/generate.hpp"

namespace dfccl::gpu::programs {

struct PlannedRun {
  int collective;
  uint32_t run;
};

/// What all ranks have in common of it.
struct Phase {
  std::vector<PlannedRun> runs;
  int renewed = -1;
  int launched = -1;  // the graph that is launched behind the runs
  uint32_t launch = 0;
};

/// Draws what one rank does.
class StepsOfRank {
 public:
  /// @param program its collectives, and this rank's streams
  StepsOfRank(const Program& program, const std::vector<Phase>& phases, int rank, const Shape& shape, Draw& draw);
  std::vector<Step> make();

 private:
  bool has(Feature feature) const { return shape_.features.has(feature); }
  bool takesPartIn(int collective) const;
  void submitAll(const Phase& phase);
  void launch(const Phase& phase);
  void waitForSome();
  void renew(int collective);
  /// None, one or several things that have nothing to do with runs, and may block the host.
  void disturb();
  void disturbOnce();
  Step& add(Action action);
  int anyStream();

  const Program& program_;
  const std::vector<Phase>& phases_;
  const int rank_;
  const Shape& shape_;
  Draw& draw_;
  std::vector<Step> steps_;
  std::vector<int> used_;  // ids with runs so far
  uint32_t phase_ = 0;
};

}  // namespace dfccl::gpu::programs
