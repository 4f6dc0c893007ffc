#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "stream_programs/pattern.hpp"

namespace dfccl::gpu::programs {

enum class Kind : uint8_t {
  allReduce,
  allGather,
  reduceScatter,
  reduce,
  broadcast,
  allToAll,
  gather,
  scatter,
  sendRecv,
  barrier,
  count
};

enum class Operator : uint8_t { sum, min, max, avg };

struct Collective {
  Kind kind;
  ElementType type;
  Operator op;
  size_t count;            // elements of a rank's smaller buffer
  uint32_t root;           // position in ranks
  std::vector<int> ranks;  // that take part, in its order
  bool isAborted;          // at some time, by some rank: nobody relies on its results
};

/// Captured at a program's beginning by each rank that takes part in any of it.
struct PlannedGraph {
  std::vector<int> collectives;  // one behind the other
};

enum class StreamKind : uint8_t { nonBlocking, blocking, legacy, perThread };

struct StreamPlan {
  StreamKind kind;
  uint32_t urgency;  // 0: the least; then ever more, up to the device's greatest priority
};

enum class BufferKind : uint8_t { kept, fresh, pool, pinned };  // where a run's buffers lie

enum class Action : uint8_t {
  run,            // of `collective`, behind `stream`, or behind nothing where that is -1
  waitOnStream,   // `stream` waits for all runs of `collective` so far; behind it, a kernel looks at their results
  hostWait,       // until all runs so far are over
  poll,           // once
  launchGraph,    // `graph` on `stream`, for the `run`-th time; behind it, a kernel looks at its results
  meet,           // of all ranks that share a device and a process
  renew,          // unregister `collective`, and register it again; behind a hostWait
  abort,          // `collective`
  compute,        // `amount` microseconds on `stream`
  module,         // a kernel on `stream`, of a module that is not loaded
  malloc,         // `amount` KiB, which wait for a free
  free,           // memory that no run uses, or no more
  hostMalloc,     // cudaMallocHost
  hostFree,       // cudaFreeHost
  hostRegister,   // and cudaHostUnregister
  limit,          // cudaDeviceSetLimit of the stack
  poolRound,      // cudaMallocAsync, a fill and cudaFreeAsync on `stream`
  event,          // recorded on `stream`; `other` waits for it
  renewStream,    // `stream` is destroyed with what it has to do, and made anew
  synchronize,    // `stream`
  synchronizeAll  // the device
};

struct Step {
  Action action;
  int collective = -1;
  int graph = -1;
  uint32_t run = 0;  // which of its collective's
  int stream = -1;
  int other = -1;
  uint32_t amount = 0;
  BufferKind place = BufferKind::kept;
  bool isInPlace = false;
  uint32_t phase = 0;
};

/// What every rank does, step by step; see generate.hpp for why it ends.
struct Program {
  uint64_t seed;
  std::vector<Collective> collectives;
  std::vector<PlannedGraph> graphs;
  std::vector<std::vector<StreamPlan>> streams;  // [rank]
  std::vector<std::vector<Step>> steps;          // [rank]
  uint64_t runs = 0;                             // of collectives, each counted once
  bool aborts = false;
};

/// What a rank's buffers of a run hold before it (input) and after it (output). An unused buffer has no blocks.
struct RunPatterns {
  Pattern input, output;
};
/// @pre the rank takes part
RunPatterns patternsOf(const Program& program, int collective, uint32_t run, int rank);

/// Which number such a run of a graph has, among all of its collective's. @param place in the graph
uint32_t numberInGraph(int graph, uint32_t launch, size_t place);

/// -1: it doesn't take part.
int positionOf(const Collective& collective, int rank);
/// Whether a rank has any part in a graph.
bool takesPart(const Program& program, int graph, int rank);

std::string describe(const Collective& collective);
std::string describe(const Step& step);
/// A rank's steps, a line each; `at` is marked.
std::string listing(const Program& program, int rank, size_t at);

}  // namespace dfccl::gpu::programs
