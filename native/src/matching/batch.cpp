#include "matching/batch.hpp"

namespace dfccl {
namespace {

/// As long as they are of the same rank. @param done how many have been submitted, which it adds to.
void submitNext(std::span<BatchedRun> runs, size_t& done) {
  size_t end = done;
  while (end < runs.size() && runs[end].matching == runs[done].matching) ++end;
  runs[done].matching->submitPrepared(runs.subspan(done, end - done), done);
}

void prepareAll(std::span<BatchedRun> runs) {
  for (BatchedRun& run : runs) run.matching->prepare(run);
}

}  // namespace

void submitTogether(std::span<BatchedRun> runs) {
  size_t done = 0;
  try {
    prepareAll(runs);
    while (done < runs.size()) submitNext(runs, done);
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
