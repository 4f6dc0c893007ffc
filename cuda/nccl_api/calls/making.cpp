#include "nccl_api/calls/making.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "entry_points.hpp"
#include "host/driver/check.hpp"
#include "host/driver/hardware_queues.hpp"
#include "nccl_api/calls/agreed_in_streams.hpp"
#include "nccl_api/calls/falling_back.hpp"
#include "nccl_api/machines/visit.hpp"
#include "nccl_api/universe/entry.hpp"
#include "world/gpu_backend.hpp"

namespace dfccl::nccl {
namespace {

/// The members of a split's part: by key, and among equal ones by their rank before. @return their ranks before.
std::vector<int> membersOf(const std::vector<Arrival>& all, int color) {
  std::vector<int> members;
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].color == color) members.push_back(static_cast<int>(r));
  }
  std::stable_sort(members.begin(), members.end(),
                   [&](int a, int b) { return all[static_cast<size_t>(a)].key < all[static_cast<size_t>(b)].key; });
  return members;
}

bool haveFallback(const std::vector<Arrival>& all) {
  return std::all_of(all.begin(), all.end(), [](const Arrival& one) { return one.hasFallback != 0; });
}

}  // namespace

void requireGpu() {
  const std::optional<Error> obstacle = reportGpus().obstacle;
  if (obstacle) throw Failure(ncclUnhandledCudaError, obstacle->what());
}

int currentDevice() {
  requireGpu();
  int device = 0;
  checkCuda(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

void checkRank(int ranks, int rank) {
  if (ranks < 1 || ranks > 1024) {
    refuseArgument("The number of ranks is " + std::to_string(ranks) + ".", "Allowed: 1 to 1024.");
  }
  if (rank < 0 || rank >= ranks) {
    refuseArgument("Rank " + std::to_string(rank) + " is not in a communicator of " + std::to_string(ranks) + ".",
                   "Allowed: 0 to " + std::to_string(ranks - 1) + ".");
  }
}

Making Making::prepare(ncclComm_t* comm, const Name& meeting, int ranks, int rank, int device, const Config& config) {
  Making making;
  making.made = std::make_shared<Communicator>(config, device);
  making.handle = Communicators::add(making.made);
  making.given = comm;
  making.meeting = meeting;
  making.ranks = ranks;
  making.rank = rank;
  making.isBlocking = config.isBlocking;
  *comm = making.handle;
  return making;
}

/// An aborted communicator's parts are not to be made any more.
bool Making::isCancelled() const {
  const auto isOver = [](const std::shared_ptr<Communicator>& one) {
    return one && one->isCancelled.load(order::relaxed) != 0;
  };
  return isOver(made) || isOver(parent) || isOver(former) || (isGivenUp && isGivenUp->load(order::relaxed) != 0);
}

void Making::make() {
  // What is made of the other NCCL's is made on the current device.
  std::optional<gpu::OnDevice> here;
  if (made) here.emplace(made->device);
  if (realId) {
    tellOfFallingBack(RealNccl::open(), "DFCCL_REAL_NCCL_FOR=all");
    return makeReal(*realId);
  }
  Universes& universes = Universes::here();
  Universes::Told told = universes.tell(made ? made->device : -1);
  told.arrival.color = color;
  told.arrival.key = key;
  if (made) told.arrival.mostBlocks = made->config.mostBlocks;
  // Whoever gets no part has nothing to say about it.
  told.arrival.mostBytesInStreams = made ? made->config.mostBytesInStreams : ~uint64_t{0};
  told.arrival.mostBlocksInStreams = made ? made->config.mostBlocksInStreams : 0;
  told.arrival.hardwareQueues = gpu::hardwareQueues();
  told.arrival.roomForRuns = made ? roomForRunsOn(made->device) : ~uint32_t{0};
  told.arrival.hasFallback = RealNccl::isNamed() ? 1 : 0;
  const std::vector<Arrival> all = meetOthers(0, told.arrival);
  if (!parent && !Universes::canServe(all) && haveFallback(all)) return fallBack(all);
  if (!parent) {
    Placed placed = universes.place(meeting, told, all, rank);
    const InStreams inStreams = agreedInStreams(all, !placed.isNew);
    return made->become(meeting, rank, std::move(placed), inStreams);
  }
  if (!made) return;
  Placed placed{parent->universe(), {}};
  int place = 0;
  const int self = kept.empty() ? rank : kept[static_cast<size_t>(rank)];
  for (const int member : kept.empty() ? membersOf(all, color) : kept) {
    if (member == self) place = static_cast<int>(placed.ranks.size());
    placed.ranks.push_back(parent->members()[static_cast<size_t>(member)]);
  }
  made->become(meeting.derived(static_cast<uint64_t>(color)), place, std::move(placed), agreedInStreams(all, true));
}

/// All ranks decide alike, by what all have told.
void Making::fallBack(const std::vector<Arrival>& all) {
  constexpr uint64_t kAgain = 4;
  nextMeeting_ = kAgain;
  RealNccl& real = RealNccl::open();
  tellOfFallingBack(real, areOnOneMachine(all) ? "some ranks of a communicator share a process, and others don't."
                                               : "a communicator's ranks are on several machines.");
  Arrival own = all[static_cast<size_t>(rank)];
  if (rank == 0) real.check(real.call<decltype(ncclGetUniqueId)>("ncclGetUniqueId", &own.realId));
  makeReal(meetOthers(kAgain, own).front().realId);
}

std::vector<Arrival> Making::meetOthers(uint64_t step, const Arrival& own) {
  nextMeeting_ = std::nullopt;
  const auto isOver = [this] { return isCancelled(); };
  if (!elsewhere) return meet(meetingOf(meeting, step), ranks, rank, own, isOver);
  Request request{};
  request.name = meeting;
  request.step = step;
  request.ranks = ranks;
  request.rank = rank;
  request.arrival = own;
  return visit(*elsewhere, request, isOver);
}

void Making::makeReal(const ncclUniqueId& id) {
  const RealNccl& real = *RealNccl::opened();
  ncclConfig_t copy;
  ncclConfig_t* const config = made->config.forReal(copy);
  made->fallBack([&](ncclComm_t* handle) {
    using Initialize = decltype(ncclCommInitRankConfig);
    real.check(real.call<Initialize>("ncclCommInitRankConfig", handle, ranks, id, rank, config));
  });
}

ncclResult_t Making::run() noexcept {
  return end(entered(function, [this] {
    make();
    return ncclSuccess;
  }));
}

ncclResult_t Making::giveUp(const char* why) noexcept {
  return end(entered(function, [why]() -> ncclResult_t {
    throw Failure(ncclSystemError, std::string("The system refuses a thread: ") + why + ".",
                  "Allow the process more threads and memory, or make fewer communicators at once.");
  }));
}

void Making::tellOthersOfGivingUp() const noexcept {
  // Where they wait elsewhere they find it out when their time is over; the other NCCL's have no meeting here.
  if (!nextMeeting_ || elsewhere || realId || ranks == 1) return;
  try {
    Meeting::giveUp(meetingOf(meeting, *nextMeeting_), ranks, rank);
  } catch (const std::exception&) {
    // They know, or can't be told.
  }
}

ncclResult_t Making::end(ncclResult_t result) noexcept {
  if (result == ncclSuccess || !made) return result;
  made->failed(result);
  if (!made->config.isBlocking) return result;  // the caller finds it out by the handle, and destroys that
  *given = nullptr;
  try {
    Communicators::remove(handle);
  } catch (const Failure&) {
    // Aborted meanwhile, in another thread.
  }
  return result;
}

}  // namespace dfccl::nccl
