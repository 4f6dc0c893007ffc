#include "world/program_check.hpp"

#include <string>

#include "base/error.hpp"

namespace dfccl {
namespace {

/// Whether every chunk goes only to places where its segment's chunks are as long: so all of them arrive whole, also
/// where the last ones of a segment are shorter. Of what goes through connections or scratch, one rank's program
/// doesn't tell.
bool keepsPlaces(const BoundProgram& program) {
  const uint32_t perSegment = program.header.chunksPerSegment;
  for (const StepRecord& step : program.steps) {
    if (static_cast<Op>(step.op) != Op::multiReduceCopy) return false;
    const BoundRef* const refs = program.refs.data() + step.firstRef;
    for (uint32_t i = 0; i < uint32_t{step.sourceCount} + step.destinationCount; ++i) {
      if (static_cast<BufferKind>(refs[i].buffer) == BufferKind::scratch) return false;
      if (refs[i].chunk % perSegment != refs[0].chunk % perSegment) return false;
    }
  }
  return true;
}

}  // namespace

void checkHasProgram(const CollectiveSpec& spec) {
  if (!spec.program.empty() || spec.collective != Collective::custom) return;
  throw Error(dfcclInvalidArgument, std::string("Collective ") + spec.id.text() + " is custom and has no program.",
              "Pass the program that computes it.", {{"id", spec.id.text()}, {"field", "program"}});
}

void checkIsConnected(const BoundProgram& program, const CollectiveSpec& spec) {
  if (!program.usesDirect() && !program.exchanges) return;
  throw Error(dfcclInvalidProgram,
              "Collective " + spec.id.text() +
                  ": the program reads or writes other ranks' memory, and its ranks are on several machines.",
              "Use one that moves everything through connections, such as a ring.", {{"id", spec.id.text()}});
}

void checkProgram(const BoundProgram& program, const CollectiveSpec& spec, uint32_t member) {
  const ProgramHeader& h = program.header;
  const auto mismatch = [&](const char* what, uint64_t has, uint64_t needs) {
    throw Error(dfcclInvalidProgram,
                "Collective " + spec.id.text() + ": the program is for " + what + " " + std::to_string(has) + ", not " +
                    std::to_string(needs) + ".",
                "Build it for this collective, rank list and root.", {{"id", spec.id.text()}, {"field", what}});
  };
  if (h.rankCount != spec.ranks.size()) mismatch("rank count", h.rankCount, spec.ranks.size());
  if (h.rank != member) mismatch("rank", h.rank, member);
  if (h.collective != static_cast<uint32_t>(spec.collective))
    mismatch("collective", h.collective, static_cast<uint32_t>(spec.collective));
  if (hasRoot(spec.collective) && h.root != spec.root) mismatch("root", h.root, spec.root);
  if (spec.collective == Collective::custom && spec.count % h.chunksPerSegment != 0 && !keepsPlaces(program)) {
    throw Error(
        dfcclInvalidArgument,
        "Collective " + spec.id.text() + ": count " + std::to_string(spec.count) +
            " isn't a multiple of the program's " + std::to_string(h.chunksPerSegment) + " chunks.",
        "It moves chunks through connections, scratch or to other places in their segments, so all must be equally "
        "long: pad the buffers.",
        {{"id", spec.id.text()}, {"field", "count"}});
  }
}

}  // namespace dfccl
