#pragma once
#include <span>
#include <string>

#include "trace/trace_track.hpp"

namespace dfccl {

/// Chrome's trace event format, which ui.perfetto.dev and chrome://tracing open: a process a rank, a thread a track; a
/// slice for each stay, for each order to the workers and for each context that is brought near; an instant for every
/// other moment; the counters at the end. Times count from the first moment.
std::string chromeTrace(std::span<const TraceTrack> tracks);

}  // namespace dfccl
