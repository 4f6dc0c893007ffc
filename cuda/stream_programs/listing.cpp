#include <sstream>

#include "stream_programs/program.hpp"

namespace dfccl::gpu::programs {
namespace {

const char* nameOf(Kind kind) {
  static const char* const names[] = {"all-reduce", "all-gather", "reduce-scatter", "reduce",    "broadcast",
                                      "all-to-all", "gather",     "scatter",        "send-recv", "barrier"};
  return names[static_cast<size_t>(kind)];
}

const char* nameOf(Action action) {
  static const char* const names[] = {"run",
                                      "let the stream wait for",
                                      "wait for all runs",
                                      "poll",
                                      "launch graph",
                                      "meet the ranks of this process",
                                      "unregister and register again",
                                      "abort",
                                      "compute",
                                      "launch a kernel of a new module",
                                      "cudaMalloc",
                                      "cudaFree",
                                      "cudaMallocHost",
                                      "cudaFreeHost",
                                      "cudaHostRegister, cudaHostUnregister",
                                      "cudaDeviceSetLimit",
                                      "cudaMallocAsync, cudaFreeAsync",
                                      "event",
                                      "destroy and make the stream",
                                      "synchronize the stream",
                                      "synchronize the device"};
  return names[static_cast<size_t>(action)];
}

}  // namespace

std::string describe(const Collective& c) {
  static const char* const types[] = {"int32", "int64", "float32", "float64"};
  static const char* const operators[] = {"sum", "min", "max", "avg"};
  std::ostringstream text;
  text << nameOf(c.kind);
  if (c.kind != Kind::barrier) text << " " << c.count << " " << types[static_cast<size_t>(c.type)];
  if (c.kind == Kind::allReduce || c.kind == Kind::reduce || c.kind == Kind::reduceScatter) {
    text << " " << operators[static_cast<size_t>(c.op)];
  }
  text << " of ranks";
  for (const int rank : c.ranks) text << " " << rank;
  if (c.isAborted) text << ", aborted at some time";
  return text.str();
}

std::string describe(const Step& step) {
  static const char* const places[] = {"", ", new buffers", ", buffers of a pool", ", the host's buffers"};
  std::ostringstream text;
  text << nameOf(step.action);
  if (step.collective >= 0) text << " " << step.collective;
  if (step.action == Action::run) {
    text << "." << step.run << places[static_cast<size_t>(step.place)] << (step.isInPlace ? ", in place" : "");
  }
  if (step.graph >= 0) text << " " << step.graph << "." << step.run;
  if (step.stream >= 0) text << " [stream " << step.stream << "]";
  if (step.action == Action::event) text << " for stream " << step.other;
  if (step.action == Action::compute) text << " " << step.amount << " us";
  return text.str();
}

std::string listing(const Program& program, int rank, size_t at) {
  static const char* const kinds[] = {"", " blocking", " legacy", " per-thread"};
  std::ostringstream text;
  text << "rank " << rank << ", streams:";
  const auto& streams = program.streams[static_cast<size_t>(rank)];
  for (size_t i = 0; i < streams.size(); ++i) {
    text << (i == 0 ? " " : ", ") << i << kinds[static_cast<size_t>(streams[i].kind)];
    if (streams[i].urgency != 0) text << " urgent " << streams[i].urgency;
  }
  text << "\n";
  for (size_t graph = 0; graph < program.graphs.size(); ++graph) {
    text << "graph " << graph << ":";
    for (const int collective : program.graphs[graph].collectives) text << " " << collective;
    text << "\n";
  }
  const auto& steps = program.steps[static_cast<size_t>(rank)];
  for (size_t i = 0; i < steps.size(); ++i) {
    text << (i == at ? " >> " : "    ") << "phase " << steps[i].phase << "  " << describe(steps[i]) << "\n";
  }
  if (at >= steps.size()) text << " >> the end: all runs are waited for, all ids unregistered\n";
  return text.str();
}

}  // namespace dfccl::gpu::programs
