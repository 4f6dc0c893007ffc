#pragma once
// What a world has unless it is told otherwise: the one table. The C API takes it (c_api/open_world.cpp), JavaScript
// does through the addon, and docs/defaults.md shows it; tests compare what worlds of either door really have.
#include <cstdint>

#include "world/world_options.hpp"

namespace dfccl {

/// Where the ranks of a world are.
enum class Span : uint8_t {
  process,   // all in this one
  machine,   // each in a process of its own, on this machine
  machines,  // ... on several
};

/// Everything but `ranks`.
WorldOptions defaultOptions(BackendKind backend, uint32_t ranks = 1, Span span = Span::process);

/// Program blocks that a rank has room for, where it has room for so many collectives.
uint32_t defaultTasks(BackendKind backend, uint32_t collectives);

/// How a rank schedules.
scheduling::SchedulePolicy defaultPolicy(BackendKind backend);
/// NCCL's behaviour: `streams` collectives at once, in the order of submission, none preempted, no voluntary quit.
scheduling::SchedulePolicy inOrderPolicy(BackendKind backend, uint32_t streams);

}  // namespace dfccl
