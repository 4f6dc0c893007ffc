// A run that a graph carries out, where there is no GPU: its lanes one after the other, as the first block does when no
// other has found room.
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "cpu/cpu_platform.hpp"
#include "daemon/framing/ll.hpp"
#include "device/captured/captured_run.cuh"
#include "device/captured/direct_moves.cuh"
#include "device/captured/message_room.cuh"
#include "simulated/captured_lanes.hpp"
#include "simulated/current_device.hpp"
#include "simulated/device.hpp"
#include "simulated/graph.hpp"
#include "simulated/modules.hpp"
#include "simulated/slices.hpp"
#include "simulated/unkindness.hpp"

namespace dfccl::gpu {
namespace {

Atomic<uint64_t> movedDirectly;

class SimulatedRun {
 public:
  explicit SimulatedRun(const CapturedRun& run) : run_(run), state_(*run.state) {}

  void carryOut() {
    if (run_.numberInStreams != 0) run_.notes->begunInStreams.store(run_.numberInStreams, order::release);
    isEnded_ = state_.mustEnd.load(order::acquire) != 0;
    for (uint32_t lane = 0; lane < run_.layout.lanes; ++lane) {
      Atomic<uint64_t, Scope::device>& word = state_.lanes[lane].word;
      const uint32_t number = CapturedTurn(word.fetchAdd(CapturedTurn::kArrival, order::acqRel)).arrivals();
      // Runs of other launches that are under way.
      while (!CapturedTurn(word.load(order::acquire)).isTurnOf(number)) pause();
      if (number == 0) run_.notes->isBegun.store(1, order::release);
      while (!isEnded_ && run_.notes->isComplete.load(order::acquire) == 0) lookAgain();
      if (isEnded_ || !run_.layout.isLarge || !goDirectly(lane, number)) {
        for (uint32_t tile = 0; tile < run_.tilesOf(lane) && !isEnded_; ++tile) {
          const CapturedTile here(run_, lane, tile, number);
          run_.layout.isMessage ? carryOutMessage(here, {run_, run_.notes->members, lane, number}, tile)
                                : carryOutTile(here);
        }
      }
      word.fetchAdd(CapturedTurn::ending(number, CapturedTurn::isFree), order::acqRel);
    }
    if (run_.numberInStreams != 0) return tellOver();
    if (isEnded_) run_.notes->ended.fetchAdd(1, order::acqRel);
  }

 private:
  static constexpr uint64_t kLine = 2 * Ll::kLineBytes;  // of a GPU's: two words

  void tellOver() {
    if (isEnded_ && run_.notes->firstEndedInStreams.load(order::relaxed) == 0) {
      run_.notes->firstEndedInStreams.store(run_.numberInStreams, order::relaxed);
    }
    state_.overInStreams.store(static_cast<uint32_t>(run_.numberInStreams), order::release);
    run_.notes->overInStreams.store(run_.numberInStreams, order::release);
  }

  static void pause() {
    simulated::step();
    std::this_thread::yield();
  }
  void lookAgain() {
    pause();
    isEnded_ = run_.notes->mustEnd.load(order::acquire) != 0;
  }

  /// @return false: a buffer is out of some member's reach.
  bool goDirectly(uint32_t lane, uint32_t number) {
    const CapturedMembers& members = run_.notes->members;
    const DirectLane direct(run_, members, lane, number);
    forPeers([&](uint32_t peer) { direct.publish(peer); });
    std::vector<DirectBuffers> buffers(run_.members);
    bool isWithinReach = true;
    for (uint32_t m = 0; m < run_.members; ++m) {
      auto come = DirectLane::Come::notYet;
      while ((come = direct.look(m, buffers[m])) == DirectLane::Come::notYet && !isEnded_) lookAgain();
      isWithinReach &= come == DirectLane::Come::here;
    }
    if (isEnded_) return takeBack(direct);
    if (!isWithinReach) return false;
    if (!claim(direct)) {
      while (!isEnded_) lookAgain();
      return takeBack(direct);
    }
    move(lane, buffers);
    movedDirectly.fetchAdd(1, order::relaxed);
    forPeers([&](uint32_t peer) { direct.say(peer, DirectLane::over, order::release); });
    forPeers([&](uint32_t peer) {
      while (!isEnded_ && !direct.hasSaid(peer, DirectLane::over, order::acquire)) lookAgain();
    });
    return isEnded_ ? takeBack(direct) : true;
  }

  bool claim(const DirectLane& direct) {
    bool isMine = true;
    forPeers([&](uint32_t peer) {
      direct.say(peer, DirectLane::claimed, order::seqCst);
      isMine &= !direct.isTakenBack(peer, order::seqCst);
    });
    if (!isMine) forPeers([&](uint32_t peer) { direct.say(peer, DirectLane::takenBack, order::seqCst); });
    return isMine;
  }

  bool takeBack(const DirectLane& direct) {
    constexpr auto kLongestMove = std::chrono::seconds(5);
    const auto begun = std::chrono::steady_clock::now();
    forPeers([&](uint32_t peer) {
      direct.say(peer, DirectLane::takenBack, order::seqCst);
      while (direct.hasSaid(peer, DirectLane::claimed, order::seqCst) &&
             std::chrono::steady_clock::now() - begun < kLongestMove) {
        pause();
      }
    });
    return true;
  }

  void move(uint32_t lane, const std::vector<DirectBuffers>& buffers) {
    const DirectMoves moves(run_, lane);
    for (uint32_t i = 0; i < moves.count(); ++i) {
      DirectOperands operands;
      moves.describe(i, buffers.data(), run_.notes->members.scales, operands);
      // Others may do things meanwhile.
      simulated::step();
      if (operands.args.count != 0) dfccl::reduceCopy(run_.type, run_.op, operands.args);
    }
  }

  template <class Do>
  void forPeers(const Do& each) const {
    for (uint32_t m = 0; m < run_.members; ++m) {
      if (m != run_.member) each(m);
    }
  }

  void carryOutMessage(const CapturedTile& tile, const MessageRoom& room, uint32_t index) {
    const uint32_t other = 1 - run_.member;
    if (room.isSender()) {
      while (!isEnded_ && !room.isFreeFor(index, order::acquire)) lookAgain();
      if (!isEnded_) send(tile, other);
      return;
    }
    const std::vector<uint8_t> part = receive(tile, other);
    if (isEnded_) return;
    if (!part.empty()) std::memcpy(tile.destination(run_, other), part.data(), part.size());
    room.sayTaken(index, order::release);
  }

  void carryOutTile(const CapturedTile& tile) {
    for (uint32_t to = 0; to < run_.members; ++to) {
      if (to != run_.member) send(tile, to);
    }
    const uint64_t bytes = tile.bytes(run_);
    // What is received may lie where it was sent from, and what a member has itself may, too.
    std::vector<uint8_t> own(bytes);
    if (bytes != 0 && (run_.isReduced() || run_.copiesOwn())) {
      std::memcpy(own.data(), tile.source(run_, run_.member), bytes);
    }
    std::vector<std::vector<uint8_t>> parts(run_.members);
    for (uint32_t from = 0; from < run_.members && !isEnded_; ++from) {
      if (from != run_.member) parts[from] = receive(tile, from);
    }
    if (isEnded_ || bytes == 0) return;
    if (run_.isReduced()) {
      parts[run_.member] = own;
      return reduce(tile, parts);
    }
    parts[run_.member] = run_.copiesOwn() ? own : std::vector<uint8_t>();
    for (uint32_t from = 0; from < run_.members; ++from) {
      if (!parts[from].empty()) std::memcpy(tile.destination(run_, from), parts[from].data(), bytes);
    }
  }

  void send(const CapturedTile& tile, uint32_t to) {
    if (!run_.meet(run_.member, to)) return;
    uint8_t* const slot = tile.outgoing(run_, run_.notes->members, to);
    const uint64_t bytes = run_.sends(run_.member, to) ? tile.bytes(run_) : 0;
    const uint64_t lines = bytes == 0 ? 1 : (bytes + Ll::kDataBytes - 1) / Ll::kDataBytes;
    for (uint64_t line = 0; line < lines + lines % 2; ++line) {
      const uint64_t at = line * Ll::kDataBytes;
      const uint64_t left = at < bytes ? bytes - at : 0;
      Ll::packLine(slot, line, left == 0 ? nullptr : tile.source(run_, to) + at,
                   left < Ll::kDataBytes ? left : Ll::kDataBytes, tile.position);
    }
  }

  /// @return what has come; nothing of a member that sends none, or where the run has ended.
  std::vector<uint8_t> receive(const CapturedTile& tile, uint32_t from) {
    if (!run_.meet(run_.member, from)) return {};
    const uint8_t* const slot = tile.incoming(run_, run_.notes->members, from);
    const uint64_t bytes = run_.sends(from, run_.member) ? tile.bytes(run_) : 0;
    const uint64_t lines = bytes == 0 ? 1 : (bytes + Ll::kDataBytes - 1) / Ll::kDataBytes;
    std::vector<uint8_t> received(bytes);
    for (uint64_t line = 0; line < lines; ++line) {
      while (!Ll::hasLine(slot, line, tile.position)) {
        lookAgain();
        if (isEnded_) return {};
      }
      const uint64_t at = line * Ll::kDataBytes;
      if (at < bytes) {
        Ll::unpackLine(received.data() + at, slot, line, bytes - at < Ll::kDataBytes ? bytes - at : Ll::kDataBytes);
      }
    }
    return received;
  }

  void reduce(const CapturedTile& tile, const std::vector<std::vector<uint8_t>>& parts) {
    std::vector<const void*> sources;
    for (const auto& part : parts) sources.push_back(part.data());
    void* destination = tile.destination(run_, run_.member);
    ReduceCopyArgs args{sources.data(), static_cast<int>(run_.members), &destination, 1, tile.elements};
    if (run_.op == ReduceOp::scaledSum) args.scales = run_.notes->members.scales;
    if (run_.op == ReduceOp::avg) args.divisor = run_.members;
    dfccl::reduceCopy(run_.type, run_.op, args);
  }

  const CapturedRun& run_;
  CapturedState& state_;
  bool isEnded_ = false;
};

/// A kernel's. Each member's begin when there is room for them, one behind the other.
class SimulatedRuns {
 public:
  SimulatedRuns(const CapturedRun* runs, uint32_t count, int device) : device_(device) {
    for (uint32_t i = 0; i < count; ++i) {
      if (i == 0 || runs[i].state != runs[i - 1].state) members_.emplace_back();
      members_.back().push_back(runs[i]);
    }
  }

  void carryOut() const {
    Atomic<size_t> begun;
    std::vector<std::jthread> others;
    for (size_t i = 1; i < members_.size(); ++i) {
      others.emplace_back([this, i, &begun] {
        const simulated::AtWork here(device_);
        carryOut(i, begun);
      });
    }
    carryOut(0, begun);
  }

 private:
  void carryOut(size_t i, Atomic<size_t>& begun) const {
    simulated::Multiprocessors& room = simulated::Device::at(device_).multiprocessors();
    while (begun.load(order::acquire) != i) {
      simulated::step();
      std::this_thread::yield();
    }
    room.take(1);
    begun.store(i + 1, order::release);
    for (const CapturedRun& run : members_[i]) SimulatedRun(run).carryOut();
    room.giveBack(1);
  }

  std::vector<std::vector<CapturedRun>> members_;
  const int device_;
};

}  // namespace

uint64_t simulated::lanesMovedDirectly() { return movedDirectly.load(order::relaxed); }

cudaError_t launchCapturedRuns(const CapturedRun* runs, uint32_t count, cudaStream_t handle) {
  if (simulated::unkindness().refusedLaunches.takeOne()) return cudaErrorLaunchFailure;
  simulated::Stream& stream = simulated::Device::streamOf(handle, simulated::currentDevice);
  const int device = stream.device();
  const auto together = std::make_shared<const SimulatedRuns>(runs, count, device);
  const auto kernel = [together] { together->carryOut(); };
  return simulated::Device::at(device).launchOf({simulated::kCapturedRunsModule}, stream, kernel, false);
}

cudaError_t prepareCapturedRuns(cudaStream_t) { return simulated::prepareModule(simulated::kCapturedRunsModule); }

cudaError_t addCapturedRun(cudaGraph_t graph, const cudaGraphNode_t* behind, size_t count, const CapturedRun& run,
                           cudaGraphNode_t* node) {
  std::vector<simulated::GraphNode*> before;
  for (size_t i = 0; i < count; ++i) before.push_back(reinterpret_cast<simulated::GraphNode*>(behind[i]));
  simulated::Graph& to = *reinterpret_cast<simulated::Graph*>(graph);
  *node = reinterpret_cast<cudaGraphNode_t>(to.add(std::move(before), [run] { SimulatedRun(run).carryOut(); }));
  return cudaSuccess;
}

}  // namespace dfccl::gpu
