#include "stream_programs/generate_steps.hpp"

#include <algorithm>
#include <map>

namespace dfccl::gpu::programs {

StepsOfRank::StepsOfRank(const Program& program, const std::vector<Phase>& phases, int rank, const Shape& shape,
                         Draw& draw)
    : program_(program), phases_(phases), rank_(rank), shape_(shape), draw_(draw) {}

std::vector<Step> StepsOfRank::make() {
  for (const Phase& phase : phases_) {
    submitAll(phase);
    if (shape_.meets) add(Action::meet);
    if (phase.launched >= 0) launch(phase);
    waitForSome();
    if (phase.renewed >= 0 && takesPartIn(phase.renewed)) renew(phase.renewed);
    ++phase_;
  }
  return std::move(steps_);
}

bool StepsOfRank::takesPartIn(int collective) const {
  return positionOf(program_.collectives[static_cast<size_t>(collective)], rank_) >= 0;
}

void StepsOfRank::submitAll(const Phase& phase) {
  std::vector<int> order;
  std::map<int, uint32_t> next;  // runs of an id are submitted in their order
  for (const PlannedRun& run : phase.runs) {
    if (!takesPartIn(run.collective)) continue;
    order.push_back(run.collective);
    const auto [at, isFirst] = next.emplace(run.collective, run.run);
    if (!isFirst) at->second = std::min(at->second, run.run);
  }
  draw_.shuffle(order);
  for (const int collective : order) {
    disturb();
    const Collective& c = program_.collectives[static_cast<size_t>(collective)];
    Step& step = add(Action::run);
    step.collective = collective;
    step.run = next[collective]++;
    step.stream = draw_.hits(75) ? anyStream() : -1;
    step.isInPlace = (c.kind == Kind::allReduce || c.kind == Kind::broadcast) && draw_.hits(30);
    const size_t dice = draw_.below(100);
    if (dice < 20 && has(Feature::fresh)) step.place = BufferKind::fresh;
    if (dice >= 20 && dice < 35 && has(Feature::pools)) step.place = BufferKind::pool;
    if (dice >= 35 && dice < 42 && has(Feature::pinned)) step.place = BufferKind::pinned;
    if (std::find(used_.begin(), used_.end(), collective) == used_.end()) used_.push_back(collective);
    if (c.isAborted && draw_.hits(30)) add(Action::abort).collective = collective;
  }
  disturb();
}

void StepsOfRank::launch(const Phase& phase) {
  if (!takesPart(program_, phase.launched, rank_)) return;
  const int stream = anyStream();
  for (const int collective : used_) {
    Step& step = add(Action::waitOnStream);
    step.collective = collective;
    step.stream = stream;
  }
  Step& step = add(Action::launchGraph);
  step.graph = phase.launched;
  step.run = phase.launch;
  step.stream = stream;
}

void StepsOfRank::waitForSome() {
  const size_t waits = used_.empty() ? 0 : draw_.below(2 * used_.size() + 1);
  for (size_t i = 0; i < waits; ++i) {
    Step& step = add(Action::waitOnStream);
    step.collective = used_[draw_.below(used_.size())];
    step.stream = anyStream();
    disturb();
    if (has(Feature::hostWaits) && draw_.hits(6)) add(Action::hostWait);
  }
}

void StepsOfRank::renew(int collective) {
  add(Action::hostWait);
  add(Action::renew).collective = collective;
}

void StepsOfRank::disturb() {
  while (draw_.hits(35)) disturbOnce();
}

void StepsOfRank::disturbOnce() {
  struct Choice {
    Action action;
    size_t weight;
    Feature feature;
    bool isAlways = false;
  };
  static const Choice choices[] = {{Action::compute, 24, Feature::count, true},
                                   {Action::module, 8, Feature::modules},
                                   {Action::malloc, 6, Feature::malloc},
                                   {Action::free, 6, Feature::malloc},
                                   {Action::hostMalloc, 3, Feature::hostFree},
                                   {Action::hostFree, 3, Feature::hostFree},
                                   {Action::hostRegister, 3, Feature::hostUnregister},
                                   {Action::limit, 2, Feature::limits},
                                   {Action::poolRound, 6, Feature::pools},
                                   {Action::event, 14, Feature::events},
                                   {Action::renewStream, 5, Feature::streams},
                                   {Action::synchronize, 4, Feature::synchronize},
                                   {Action::synchronizeAll, 2, Feature::synchronize},
                                   {Action::poll, 4, Feature::polls}};
  const auto isAllowed = [&](const Choice& choice) {
    // An executable graph has the stacks of its kernels as they were when it was made.
    if (choice.action == Action::limit && !program_.graphs.empty()) return false;
    return choice.isAlways || has(choice.feature);
  };
  size_t sum = 0;
  for (const Choice& choice : choices) sum += isAllowed(choice) ? choice.weight : 0;
  size_t dice = draw_.below(sum);
  for (const Choice& choice : choices) {
    if (!isAllowed(choice)) continue;
    if (dice >= choice.weight) {
      dice -= choice.weight;
      continue;
    }
    Step& step = add(choice.action);
    step.stream = anyStream();
    step.other = anyStream();
    step.amount = static_cast<uint32_t>(1 + draw_.below(60));
    return;
  }
}

Step& StepsOfRank::add(Action action) {
  steps_.push_back({action});
  steps_.back().phase = phase_;
  return steps_.back();
}

int StepsOfRank::anyStream() {
  return static_cast<int>(draw_.below(program_.streams[static_cast<size_t>(rank_)].size()));
}

}  // namespace dfccl::gpu::programs
