#pragma once
#include <cstdint>
#include <vector>

#include "world/collective_spec.hpp"

namespace dfccl {

/// A program that moves everything through connections, for ranks on several machines and callers without JavaScript.
/// All-reduce is hierarchical: reduced within each machine, then in rings between machines, one for each of a machine's
/// ranks, then gathered within each. The other collectives go from everybody to everybody at once.
/// @param hostOf [member]: its machine. Where machines have unequal numbers of members, one ring takes all.
std::vector<uint8_t> buildConnectedProgram(Collective collective, const std::vector<uint32_t>& hostOf, uint32_t rank,
                                           uint32_t root, uint32_t lanes = 1);

}  // namespace dfccl
