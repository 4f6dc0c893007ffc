// Rank 0 hears from every rank and tells each what came of it, also those that come late: so the n-th barrier of a rank
// always meets the n-th of the others, whichever of them failed.
#include "backend.hpp"
#include "error.hpp"
#include "hash.hpp"
#include "known_names.hpp"
#include "submission.hpp"
#include "tag.hpp"

namespace dfccl_torch {
namespace {

constexpr const char* kName = "monitored_barrier";
/// No caller's tag of a message, which is an int.
constexpr uint64_t kTag = uint64_t{1} << 40;
/// What rank 0 tells where nobody is missing; otherwise the first rank that is.
constexpr int64_t kNobody = -1;

uint64_t tagOfBarrier() {
  const uint64_t tag = mixed(currentTag(), kTag);
  if (!isNoted(tag)) noteTag(tag, {kName, currentTagName()});
  return tag;
}

Submission tell(const std::shared_ptr<Group>& group, int peer, int64_t value) {
  Submission submission(group, c10::kCPU, kName);
  const at::Tensor tensor = submission.keep(at::full({1}, value, at::kLong));
  submission.add([&](dfcclRequest_t* request) {
    return dfcclSend(tensor.data_ptr(), 1, dfcclInt64, peer, group->handle(), tagOfBarrier(), nullptr, request);
  });
  return submission;
}

Submission hear(const std::shared_ptr<Group>& group, int peer, const at::Tensor& value) {
  Submission submission(group, c10::kCPU, kName);
  submission.keep(value);
  submission.add([&](dfcclRequest_t* request) {
    return dfcclRecv(value.data_ptr(), 1, dfcclInt64, peer, group->handle(), tagOfBarrier(), nullptr, request);
  });
  return submission;
}

/// @return the peers whose messages are not over in time, ascending.
std::vector<int> missingOf(std::vector<Submission>& messages, Clock::time_point end) {
  std::vector<int> missing;
  for (size_t i = 0; i < messages.size(); ++i) {
    std::string error;
    if (messages[i].wait(end, error) != Submission::End::complete) missing.push_back(static_cast<int>(i) + 1);
  }
  return missing;
}

std::string namesOf(const std::vector<int>& ranks) {
  std::string names = ranks.size() == 1 ? "Rank " : "Ranks ";
  for (const int rank : ranks) names += (rank == ranks.front() ? "" : ", ") + std::to_string(rank);
  return names;
}

}  // namespace

/// The errors begin with Gloo's words, by which programs tell them apart.
void DfcclBackend::monitoredBarrier(const c10d::BarrierOptions& options, bool waitAllRanks) {
  const std::chrono::milliseconds timeout = options.timeout.count() < 0 ? options_->timeout : options.timeout;
  const std::string limit = " in " + std::to_string(timeout.count()) + " ms";
  const std::string rank = "Rank " + std::to_string(getRank());
  const std::shared_ptr<Group>& group = membership_.onCpu();
  if (timeout.count() == 0) refuse(rank + " timed out in monitoredBarrier" + limit + ".", "Give it time.");
  const Clock::time_point end = timeIn(timeout);
  if (getRank() != 0) {
    const at::Tensor verdict = at::empty({1}, at::kLong);
    const Submission arrival = tell(group, 0, getRank());
    Submission answer = hear(group, 0, verdict);
    std::string error;
    const Submission::End reached = answer.wait(end, error);
    if (reached == Submission::End::complete) {
      const auto missing = verdict.item<int64_t>();
      if (missing == kNobody) return;
      error = "rank 0 has missed rank " + std::to_string(missing) + ".";
    }
    refuse(rank +
               " successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 0" +
               limit + ", in group " + group->name() + ": " + error,
           "dfccl_torch.explain() on the rank that is missing says what it waits for.");
  }
  std::vector<Submission> arrivals;
  for (int peer = 1; peer < getSize(); ++peer) arrivals.push_back(hear(group, peer, at::empty({1}, at::kLong)));
  std::vector<int> missing = missingOf(arrivals, end);
  std::vector<Submission> verdicts;
  for (int peer = 1; peer < getSize(); ++peer) {
    verdicts.push_back(tell(group, peer, missing.empty() ? kNobody : missing.front()));
  }
  if (missing.empty()) missing = missingOf(verdicts, end);
  if (missing.empty()) return;
  if (!waitAllRanks) missing.resize(1);
  refuse(namesOf(missing) + " failed to pass monitoredBarrier" + limit + ", in group " + group->name() + ".",
         "dfccl_torch.explain() there says what it waits for.");
}

}  // namespace dfccl_torch
