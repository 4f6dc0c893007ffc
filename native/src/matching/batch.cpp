#include "matching/batch.hpp"

#include <memory>

namespace dfccl {
namespace {

/// As long as they are of the same rank. @param done how many have been submitted, which it adds to.
void submitNext(std::span<BatchedRun> runs, size_t& done, Backend::Launches* launches) {
  size_t end = done;
  while (end < runs.size() && runs[end].matching == runs[done].matching) ++end;
  runs[done].matching->submitPrepared(runs.subspan(done, end - done), done, launches);
}

void prepareAll(std::span<BatchedRun> runs) {
  for (BatchedRun& run : runs) run.matching->prepare(run);
}

/// For those that are kernels in their streams; null: there are none.
std::unique_ptr<Backend::Launches> launchesOf(std::span<BatchedRun> runs) {
  for (const BatchedRun& run : runs) {
    if (run.run.isInStream) return run.matching->beginLaunches();
  }
  return nullptr;
}

}  // namespace

void submitTogether(std::span<BatchedRun> runs) {
  size_t done = 0;
  std::unique_ptr<Backend::Launches> launches;
  try {
    prepareAll(runs);
    launches = launchesOf(runs);
    while (done < runs.size()) submitNext(runs, done, launches.get());
    // Behind all that is the daemon's: it is behind the streams as they were, and waits for none of these.
    if (launches) launches->launch();
  } catch (...) {
    for (BatchedRun& run : runs.subspan(done)) {
      if (run.entry != nullptr) run.matching->forgo(run);
    }
    for (BatchedRun& run : runs.first(done)) run.matching->abortGroup(*run.group);
    for (BatchedRun& run : runs.subspan(done)) run.part->end(dfcclAborted);
    throw;
  }
}

}  // namespace dfccl
