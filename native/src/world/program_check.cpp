#include "world/program_check.hpp"

#include <string>

#include "error.hpp"

namespace dfccl {

void checkHasProgram(const CollectiveSpec& spec) {
  if (!spec.program.empty() || spec.collective != Collective::custom) return;
  throw Error(dfcclInvalidArgument,
              std::string("Collective ") + std::to_string(spec.id) + " is custom and has no program.",
              "Pass the program that computes it.", {{"id", std::to_string(spec.id)}, {"field", "program"}});
}

void checkIsConnected(const BoundProgram& program, const CollectiveSpec& spec) {
  if (!program.usesDirect() && !program.exchanges) return;
  throw Error(dfcclInvalidProgram,
              "Collective " + std::to_string(spec.id) +
                  ": the program reads or writes other ranks' memory, and its ranks are on several machines.",
              "Use one that moves everything through connections, such as a ring.", {{"id", std::to_string(spec.id)}});
}

void checkProgram(const ProgramHeader& h, const CollectiveSpec& spec, uint32_t member) {
  const auto mismatch = [&](const char* what, uint64_t has, uint64_t needs) {
    throw Error(dfcclInvalidProgram,
                "Collective " + std::to_string(spec.id) + ": the program is for " + what + " " + std::to_string(has) +
                    ", not " + std::to_string(needs) + ".",
                "Build it for this collective, rank list and root.",
                {{"id", std::to_string(spec.id)}, {"field", what}});
  };
  if (h.rankCount != spec.ranks.size()) mismatch("rank count", h.rankCount, spec.ranks.size());
  if (h.rank != member) mismatch("rank", h.rank, member);
  if (h.collective != static_cast<uint32_t>(spec.collective))
    mismatch("collective", h.collective, static_cast<uint32_t>(spec.collective));
  if (hasRoot(spec.collective) && h.root != spec.root) mismatch("root", h.root, spec.root);
  if (spec.collective == Collective::custom && spec.count % h.chunksPerSegment != 0) {
    throw Error(dfcclInvalidArgument,
                "Collective " + std::to_string(spec.id) + ": count " + std::to_string(spec.count) +
                    " isn't a multiple of the program's " + std::to_string(h.chunksPerSegment) + " chunks.",
                "Custom programs may move any chunk anywhere, so all chunks must be equal: pad the buffers.",
                {{"id", std::to_string(spec.id)}, {"field", "count"}});
  }
}

}  // namespace dfccl
