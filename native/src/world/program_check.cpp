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

void checkServesCounts(const BoundProgram& program, const CollectiveSpec& spec) {
  if (!spec.countPerRun) return;
  const auto refuse = [&](dfcclResult_t code, const std::string& what, const std::string& remedy) {
    throw Error(code, "Collective " + spec.id.text() + " is to take a count with each run, and " + what, remedy,
                {{"id", spec.id.text()}, {"field", "countPerRun"}});
  };
  if (spec.collective == Collective::custom) {
    refuse(dfcclInvalidArgument, "it is custom: for which counts its program is right, nobody but its author knows.",
           "Register it for each count, or build the program for one of the other collectives.");
  }
  if (program.exchanges) {
    refuse(dfcclInvalidProgram,
           "its program exchanges flags with the data, which says nothing of what was left before.",
           "Use a program of protocol Simple, or none: the built-in ones take a count.");
  }
  if (takesAnyCount(spec) && program.header.scratchChunks != 0) {
    refuse(dfcclInvalidArgument, "its program needs scratch memory for the largest.",
           "Register it with the largest count that its runs will have.");
  }
}

void refuseCountPerRun(const CollectiveSpec& spec, const char* place) {
  if (!spec.countPerRun) return;
  throw Error(dfcclUnavailable, "Collective " + spec.id.text() + ": runs can't bring their counts " + place + ".",
              "Register it for each count, or use a group's collectives, which need no registration (dfcclAllReduce).",
              {{"id", spec.id.text()}, {"field", "countPerRun"}});
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
