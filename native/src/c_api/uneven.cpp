// Collectives whose members have different counts: each is made of runs of even ones.
#include <utility>
#include <vector>

#include "c_api/group_handle.hpp"
#include "c_api/last_error.hpp"

using namespace dfccl;
using namespace dfccl::c_api;

namespace {

/// Where each member's elements lie in a buffer.
struct Spans {
  std::vector<uint64_t> counts;
  std::vector<uint64_t> offsets;  // bytes
};

[[noreturn]] void refuseSum(const char* what) {
  refuseArgument(std::string("The ") + what + " add up to more bytes than a process has addresses for.",
                 "Pass the number of elements of each member.", {{"field", what}});
}

/// @param displacements in elements; null: one behind the other.
Spans spansOf(const size_t* counts, const size_t* displacements, size_t elementBytes, const GroupHandle& group,
              const char* what) {
  if (counts == nullptr)
    refuseArgument(std::string("The list of ") + what + " is null.", "Pass a count for each member.");
  constexpr uint64_t kMost = uint64_t{1} << 47;
  Spans spans;
  uint64_t next = 0;
  for (uint32_t m = 0; m < group.size(); ++m) {
    const uint64_t offset = displacements != nullptr ? displacements[m] : next;
    if (counts[m] > kMost || offset > kMost || (offset + counts[m]) * elementBytes > kMost) refuseSum(what);
    spans.counts.push_back(counts[m]);
    spans.offsets.push_back(offset * elementBytes);
    next = offset + counts[m];
  }
  return spans;
}

// Null stays null, and is refused where something lies there.
const void* at(const void* buffer, uint64_t offset) {
  return buffer == nullptr ? nullptr : static_cast<const uint8_t*>(buffer) + offset;
}
void* at(void* buffer, uint64_t offset) { return buffer == nullptr ? nullptr : static_cast<uint8_t*>(buffer) + offset; }

/// The runs that an uneven collective of this rank consists of.
class Parts {
 public:
  Parts(const GroupHandle& group, Purpose purpose, dfcclDataType_t type, uint64_t tag, dfcclStream_t stream)
      : group_(group), purpose_(purpose), type_(type), tag_(tag), stream_(stream) {}

  /// All members know all counts, so that it never meets one of other counts.
  void agreeOn(const Spans& spans) { countsHash_ = hashOfCounts(spans.counts); }

  void addCollective(Collective collective, uint64_t count, uint32_t root, const void* send, void* recv,
                     dfcclRedOp_t op = dfcclSum) {
    if (count == 0) return;
    MatchedRun& run = add(collective, count, op, send, recv);
    run.signature.root = root;
  }
  void addMessage(uint64_t count, uint32_t from, uint32_t to, const void* send, void* recv) {
    if (count == 0) return;
    MatchedRun& run = add(Collective::sendRecv, count, dfcclSum, send, recv);
    run.signature.root = from;
    run.signature.receiver = to;
  }

  std::vector<MatchedRun> take() { return std::move(runs_); }

 private:
  MatchedRun& add(Collective collective, uint64_t count, dfcclRedOp_t op, const void* send, void* recv) {
    MatchedRun run{signatureOf(group_, collective, count, type_, op, tag_), send, recv, stream_};
    run.signature.purpose = purpose_;
    run.signature.countsHash = countsHash_;
    runs_.push_back(run);
    return runs_.back();
  }

  const GroupHandle& group_;
  const Purpose purpose_;
  const dfcclDataType_t type_;
  const uint64_t tag_;
  const dfcclStream_t stream_;
  uint64_t countsHash_ = 0;
  std::vector<MatchedRun> runs_;
};

/// What they all begin with. @param body (group, bytes of an element, parts): adds the runs.
template <class Body>
dfcclResult_t uneven(Purpose purpose, dfcclDataType_t type, dfcclGroup_t handle, uint64_t tag, dfcclStream_t stream,
                     dfcclRequest_t* request, Body&& body) {
  return guarded([&] {
    if (request != nullptr) *request = nullptr;
    const GroupHandle& group = groupOf(handle);
    const Signature checked = signatureOf(group, Collective::barrier, 0, type, dfcclSum, tag);
    Parts parts(group, purpose, type, tag, stream);
    body(group, sizeOf(checked.type), parts);
    submitAll(handle, parts.take(), request);
    return dfcclSuccess;
  });
}

}  // namespace

extern "C" {

dfcclResult_t dfcclAllToAllV(const void* sendbuff, const size_t* sendCounts, const size_t* sendDisplacements,
                             void* recvbuff, const size_t* recvCounts, const size_t* recvDisplacements,
                             dfcclDataType_t type, dfcclGroup_t group, uint64_t tag, dfcclStream_t stream,
                             dfcclRequest_t* request) {
  return uneven(Purpose::allToAllV, type, group, tag, stream, request,
                [&](const GroupHandle& g, size_t bytes, Parts& parts) {
                  const Spans sends = spansOf(sendCounts, sendDisplacements, bytes, g, "send counts");
                  const Spans recvs = spansOf(recvCounts, recvDisplacements, bytes, g, "receive counts");
                  const uint32_t self = g.member();
                  if (sends.counts[self] != recvs.counts[self]) {
                    refuseArgument("This rank sends " + std::to_string(sends.counts[self]) +
                                       " elements to itself and expects " + std::to_string(recvs.counts[self]) + ".",
                                   "Both are the same elements.");
                  }
                  parts.addMessage(sends.counts[self], self, self, at(sendbuff, sends.offsets[self]),
                                   at(recvbuff, recvs.offsets[self]));
                  // Each begins with its neighbour, so that not all send to the same at once.
                  for (uint32_t distance = 1; distance < g.size(); ++distance) {
                    const uint32_t to = (self + distance) % g.size(), from = (self + g.size() - distance) % g.size();
                    parts.addMessage(sends.counts[to], self, to, at(sendbuff, sends.offsets[to]), nullptr);
                    parts.addMessage(recvs.counts[from], from, self, nullptr, at(recvbuff, recvs.offsets[from]));
                  }
                });
}

dfcclResult_t dfcclAllGatherV(const void* sendbuff, void* recvbuff, const size_t* counts, const size_t* displacements,
                              dfcclDataType_t type, dfcclGroup_t group, uint64_t tag, dfcclStream_t stream,
                              dfcclRequest_t* request) {
  return uneven(Purpose::allGatherV, type, group, tag, stream, request,
                [&](const GroupHandle& g, size_t bytes, Parts& parts) {
                  const Spans spans = spansOf(counts, displacements, bytes, g, "counts");
                  parts.agreeOn(spans);
                  for (uint32_t m = 0; m < g.size(); ++m) {
                    parts.addCollective(Collective::broadcast, spans.counts[m], m, m == g.member() ? sendbuff : nullptr,
                                        at(recvbuff, spans.offsets[m]));
                  }
                });
}

dfcclResult_t dfcclReduceScatterV(const void* sendbuff, void* recvbuff, const size_t* counts, dfcclDataType_t type,
                                  dfcclRedOp_t op, dfcclGroup_t group, uint64_t tag, dfcclStream_t stream,
                                  dfcclRequest_t* request) {
  return uneven(Purpose::reduceScatterV, type, group, tag, stream, request,
                [&](const GroupHandle& g, size_t bytes, Parts& parts) {
                  const Spans spans = spansOf(counts, nullptr, bytes, g, "counts");
                  parts.agreeOn(spans);
                  // Whatever the counts: an operator that the type hasn't is refused where nothing is reduced, too.
                  static_cast<void>(signatureOf(g, Collective::reduce, 0, type, op, tag));
                  for (uint32_t m = 0; m < g.size(); ++m) {
                    parts.addCollective(Collective::reduce, spans.counts[m], m, at(sendbuff, spans.offsets[m]),
                                        m == g.member() ? recvbuff : nullptr, op);
                  }
                });
}

dfcclResult_t dfcclGatherV(const void* sendbuff, void* recvbuff, const size_t* counts, const size_t* displacements,
                           dfcclDataType_t type, int root, dfcclGroup_t group, uint64_t tag, dfcclStream_t stream,
                           dfcclRequest_t* request) {
  return uneven(Purpose::gatherV, type, group, tag, stream, request,
                [&](const GroupHandle& g, size_t bytes, Parts& parts) {
                  const Spans spans = spansOf(counts, displacements, bytes, g, "counts");
                  parts.agreeOn(spans);
                  const uint32_t to = placeIn(g, root, "root"), self = g.member();
                  for (uint32_t from = 0; from < g.size(); ++from) {
                    if (self != to && self != from) continue;
                    parts.addMessage(spans.counts[from], from, to, self == from ? sendbuff : nullptr,
                                     self == to ? at(recvbuff, spans.offsets[from]) : nullptr);
                  }
                });
}

dfcclResult_t dfcclScatterV(const void* sendbuff, const size_t* counts, const size_t* displacements, void* recvbuff,
                            dfcclDataType_t type, int root, dfcclGroup_t group, uint64_t tag, dfcclStream_t stream,
                            dfcclRequest_t* request) {
  return uneven(
      Purpose::scatterV, type, group, tag, stream, request, [&](const GroupHandle& g, size_t bytes, Parts& parts) {
        const Spans spans = spansOf(counts, displacements, bytes, g, "counts");
        parts.agreeOn(spans);
        const uint32_t from = placeIn(g, root, "root"), self = g.member();
        for (uint32_t to = 0; to < g.size(); ++to) {
          if (self != to && self != from) continue;
          parts.addMessage(spans.counts[to], from, to, self == from ? at(sendbuff, spans.offsets[to]) : nullptr,
                           self == to ? recvbuff : nullptr);
        }
      });
}
}
