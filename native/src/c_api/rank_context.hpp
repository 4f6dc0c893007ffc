#pragma once
// What a dfcclRankCtx_t stands for.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "c_api/id_table.hpp"
#include "c_api/open_world.hpp"
#include "matching/matching.hpp"
#include "world/graph_numbers.hpp"
#include "world/known_memory.hpp"
#include "world/run_check.hpp"

namespace dfccl::c_api {

/// A collective as dfcclRun needs it.
struct Registration {
  uint32_t index;
  Collective collective;
  bool isOwnProgram;
  bool hasCountPerRun;
  bool takesAnyCount;
  uint64_t count;  // where runs bring their counts: the most elements of one, which it has where nobody says; else 0
  RunShape shape;
  mutable KnownBuffers known;
  RunShape shapeOfOne;  // where runs bring their counts: of one with a single element
};

struct GroupHandle;

/// What a collective is to a graph.
struct CapturedCollective {
  uint32_t graph;  // see GraphNumbers
  uint32_t index;
  RunShape shape;
  KnownBuffers known;
  CapturedPlace last;  // of its runs
};

/// What a collective is to all graphs, the newest last.
struct CapturedCollectives {
  GraphNumbers numbers;
  std::vector<CapturedCollective> graphs;

  CapturedCollective* find(uint32_t graph) {
    const auto found = std::ranges::find(graphs, graph, &CapturedCollective::graph);
    return found == graphs.end() ? nullptr : &*found;
  }
};

class RankContext {
 public:
  /// @throws Error dfcclInvalidArgument, dfcclInUse
  RankContext(std::shared_ptr<OpenWorld> world, uint32_t rank);
  /// @pre close() succeeded.
  ~RankContext() { world_->receivers().leave(matching_); }
  RankContext(const RankContext&) = delete;
  RankContext& operator=(const RankContext&) = delete;

  OpenWorld& openWorld() { return *world_; }
  Backend& backend() { return world_->backend(); }
  RankQueues& queues() { return queues_; }
  const RankQueues& queues() const { return queues_; }
  Matching& matching() { return matching_; }
  uint32_t number() const { return number_; }
  /// What it is known by outside; null until it is.
  const void* handle() const { return handle_; }
  void setHandle(const void* handle) { handle_ = handle; }
  uint32_t worldSize() const { return world_->backend().size(); }

  /// @return nullptr if the id is unknown.
  const Registration* find(int id) const {
    const std::optional<uint32_t> index = id < 0 ? std::nullopt : ids_.find(static_cast<uint32_t>(id));
    return index ? &registrations_[*index] : nullptr;
  }
  /// @throws Error dfcclUnknownCollective
  const Registration& get(int id) const;

  /// Whether every buffer has to be asked about before its first run.
  bool checksMemory() const { return checksMemory_; }

  /// @throws Error
  void add(CollectiveSpec& spec, bool isOwnProgram);
  void remove(int id);
  /// Puts a run into the graph that the stream captures. @pre get(id) @throws Error
  void capture(int id, uint64_t capture, const void* send, void* recv, void* stream);
  /// @throws Error dfcclInvalidArgument: the stream's graph has no run of it.
  void waitInGraph(int id, uint64_t capture, void* stream);
  uint64_t endedInGraphs();
  void abort(int id);
  void setScale(double scale);
  void setCountPerRun(bool isOn);
  size_t collectiveBytes();
  /// visit(id, registration) for all that is registered.
  template <class Visit>
  void forEach(Visit&& visit) {
    const std::lock_guard lock(mutex_);
    ids_.forEach([&](uint32_t id, uint32_t index) { visit(id, registrations_[index]); });
  }

  /// visit(index) for what is registered for graphs under ids.
  template <class Visit>
  void forEachCaptured(Visit&& visit) {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, captured] : captured_) {
      for (const CapturedCollective& graph : captured.graphs) visit(graph.index);
    }
  }

  /// Groups of this rank, whose handles end with it.
  void addGroup(GroupHandle& group);
  void removeGroup(GroupHandle& group);

  /// Everything that dfcclDestroy does but freeing. @throws Error dfcclInUse, with nothing changed.
  void close();

 private:
  bool isEveryQuarantineOver();
  CapturedCollective readyToCapture(int id, uint64_t capture, const void* send, void* recv);
  uint32_t registerForGraph(uint32_t index, uint32_t graph);
  void forgetGoneGraphs(CapturedCollectives& captured);
  bool isForgotten(uint32_t index);
  CapturedPlace lastCaptured(int id, uint64_t capture);
  void removeCaptured(int id);

  std::shared_ptr<OpenWorld> world_;
  const uint32_t number_;
  const void* handle_ = nullptr;
  RankQueues& queues_;
  Matching matching_;
  const bool checksMemory_;
  IdTable ids_;
  std::vector<Registration> registrations_;                // [index]
  std::mutex capturing_;                                   // while the driver is called; taken before mutex_
  std::mutex mutex_;                                       // of registration
  std::unordered_map<int, CapturedCollectives> captured_;  // by id; under mutex_
  std::vector<GroupHandle*> groups_;                       // under mutex_
  double scale_ = 1.0;
  bool countPerRun_ = false;
};

inline constexpr uint32_t kMaxContexts = 4096;
using ContextTable = HandleTable<RankContext, kMaxContexts, kMaxWorlds>;
ContextTable& contexts();

/// @throws Error dfcclInvalidArgument (null), dfcclClosed.
RankContext& contextOf(dfcclRankCtx_t ctx);

/// Before a list is read whose length may be anything. @throws Error dfcclInvalidArgument
void checkContextList(const dfcclRankCtx_t* ctxs, int count);

}  // namespace dfccl::c_api
