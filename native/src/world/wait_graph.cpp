#include "world/wait_graph.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

namespace dfccl {
namespace {

enum State { kExecuting, kQueued, kNotSubmitted };
const char* const kStateNames[] = {"executing", "queued", "not submitted"};

using Key = std::tuple<uint32_t, CollectiveId, uint64_t>;  // rank, id, run

class Graph {
 public:
  Graph(const std::vector<RankSituation>& ranks, const std::vector<RunMembers>& runs) {
    std::map<std::pair<CollectiveId, uint64_t>, const RunMembers*> members;
    for (const RunMembers& run : runs) members[{run.id, run.run}] = &run;
    for (uint32_t r = 0; r < ranks.size(); ++r) {
      for (const auto& part : ranks[r].executing) add(r, part, kExecuting);
      for (const auto& part : ranks[r].queued) add(r, part, kQueued);
    }
    const size_t known = nodes_.size();
    for (size_t n = 0; n < known; ++n) {
      const Node node = nodes_[n];
      if (node.state == kQueued) {
        connectToExecuting(n, ranks[node.rank]);
        continue;
      }
      const auto run = members.find({node.id, node.run});
      if (run == members.end()) continue;
      for (const uint32_t peer : run->second->ranks) {
        if (peer == node.rank) continue;
        const auto counterpart = index_.find(Key{peer, node.id, node.run});
        if (counterpart != index_.end()) {
          if (nodes_[counterpart->second].state != kExecuting) edges_[n].push_back(counterpart->second);
        } else if (peer < ranks.size() && ranks[peer].isSynchronizing) {
          // It can't submit before its synchronization ends, and that waits for everything it executes.
          const size_t missing = add(peer, {node.id, node.run}, kNotSubmitted);
          edges_[n].push_back(missing);
          connectToExecuting(missing, ranks[peer]);
        }
      }
    }
  }

  std::vector<size_t> shortestCycle() const {
    std::vector<size_t> best;
    for (size_t start = 0; start < nodes_.size(); ++start) {
      std::vector<size_t> before(nodes_.size(), SIZE_MAX);
      std::deque<size_t> open{start};
      while (!open.empty()) {
        const size_t at = open.front();
        open.pop_front();
        for (const size_t next : edges_[at]) {
          if (next == start) {
            std::vector<size_t> cycle;
            for (size_t n = at; n != start; n = before[n]) cycle.push_back(n);
            cycle.push_back(start);
            std::reverse(cycle.begin(), cycle.end());
            if (best.empty() || cycle.size() < best.size()) best = cycle;
            open.clear();
            break;
          }
          if (before[next] == SIZE_MAX) {
            before[next] = at;
            open.push_back(next);
          }
        }
      }
    }
    return best;
  }

  DeadlockReport::Node describe(size_t n) const {
    return {nodes_[n].rank, nodes_[n].id, nodes_[n].run, kStateNames[nodes_[n].state], {}};
  }

 private:
  struct Node {
    uint32_t rank;
    CollectiveId id;
    uint64_t run;
    State state;
  };

  size_t add(uint32_t rank, const RankSituation::Part& part, State state) {
    const auto [at, isNew] = index_.try_emplace(Key{rank, part.id, part.run}, nodes_.size());
    if (isNew) {
      nodes_.push_back({rank, part.id, part.run, state});
      edges_.emplace_back();
    }
    return at->second;
  }

  void connectToExecuting(size_t from, const RankSituation& rank) {
    if (!edges_[from].empty()) return;
    for (const auto& part : rank.executing) {
      edges_[from].push_back(index_.at(Key{nodes_[from].rank, part.id, part.run}));
    }
  }

  std::vector<Node> nodes_;
  std::vector<std::vector<size_t>> edges_;
  std::map<Key, size_t> index_;
};

std::string write(const DeadlockReport& report) {
  std::string text = "Deadlock: ";
  for (size_t i = 0; i < report.cycle.size(); ++i) {
    const auto& node = report.cycle[i];
    const auto& next = report.cycle[(i + 1) % report.cycle.size()];
    if (i != 0) text += "; ";
    const std::string rank = "rank " + std::to_string(node.rank);
    if (node.state == kStateNames[kExecuting]) {
      text += rank + " executes " + node.name + " and waits for rank " + std::to_string(next.rank);
    } else {
      text += "on " + rank + " " + node.name +
              (node.state == kStateNames[kQueued] ? " is queued behind "
                                                  : " is not submitted before the synchronization, which waits for ") +
              next.name;
    }
  }
  return text + ".";
}

}  // namespace

DeadlockReport findDeadlock(const std::vector<RankSituation>& ranks, const std::vector<RunMembers>& runs,
                            const std::function<std::string(const CollectiveId&)>& nameOf) {
  const Graph graph(ranks, runs);
  DeadlockReport report;
  for (const size_t n : graph.shortestCycle()) report.cycle.push_back(graph.describe(n));
  for (DeadlockReport::Node& node : report.cycle) node.name = nameOf(node.id);
  if (!report.cycle.empty()) report.text = write(report);
  return report;
}

}  // namespace dfccl
