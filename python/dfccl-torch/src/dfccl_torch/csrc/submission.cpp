#include "submission.hpp"

#include <ATen/core/LegacyTypeDispatch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>

#include "errands.hpp"
#include "error.hpp"
#include "nan_check.hpp"
#include "tag.hpp"

namespace dfccl_torch {
namespace {

// A wait that takes long tells of itself for whoever looks on, and nobody else can ask for what it has in hand.
constexpr std::chrono::milliseconds kUntilFirstLook(100);
constexpr std::chrono::milliseconds kBetweenLooks(1000);

/// To the library a look is a wait whose time is up, and it writes a flight record at the first of these.
bool mayLook() {
  static const bool may = std::getenv("DFCCL_FLIGHT_RECORD") == nullptr;
  return may;
}

/// As the C API takes it: at least 1, since 0 is no limit there.
uint64_t microsUntil(std::optional<Clock::time_point> end) {
  if (!end) return 0;
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(*end - Clock::now());
  return static_cast<uint64_t>(std::max<int64_t>(left.count(), 1));
}

/// Of a wait whose time is up, which the caller says itself.
std::string whoIsMissing() {
  const std::string words = lastWords();
  const std::string beginning = "The wait's time is over. ";
  return words.substr(words.rfind(beginning, 0) == 0 ? beginning.size() : 0);
}

}  // namespace

void copyInto(const at::Tensor& target, const at::Tensor& source) {
  const at::AutoDispatchBelowADInplaceOrView guard;
  target.copy_(source);
}

/// Counts the requests of a notification down from another thread's callbacks.
struct Submission::Countdown {
  std::atomic<size_t> left;
  std::function<void()> callback;

  static void onEnd(void* countdown, dfcclResult_t /* told by the request */) {
    std::unique_ptr<std::shared_ptr<Countdown>> self(static_cast<std::shared_ptr<Countdown>*>(countdown));
    (*self)->arrive();
  }
  void arrive() {
    if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) callback();
  }
};

Submission::Submission(std::shared_ptr<Group> group, c10::Device device, const char* name, bool isInOwnStream)
    : group_(std::move(group)),
      device_(device),
      issuedOn_(device.is_cpu() ? std::nullopt : std::optional(currentStream(device))),
      name_(name) {
  if (group_->ownStream()) kernels_ = isInOwnStream ? group_->ownStream() : issuedOn_;
}

Submission::Submission(Submission&& other) noexcept
    : group_(std::move(other.group_)),
      device_(other.device_),
      issuedOn_(other.issuedOn_),
      kernels_(other.kernels_),
      name_(other.name_),
      requests_(std::exchange(other.requests_, {})),
      outstanding_(std::move(other.outstanding_)),
      kept_(std::move(other.kept_)),
      lastly_(std::move(other.lastly_)),
      ended_(std::move(other.ended_)),
      placed_(std::move(other.placed_)),
      hasFollowed_(other.hasFollowed_),
      isAborted_(other.isAborted_),
      abortReason_(std::move(other.abortReason_)) {}

Submission::~Submission() {
  if (requests_.empty()) return;
  if (!group_->isOfThisProcess()) return;
  if (isCaptured()) {  // every launch of the graph carries them out, and its pool keeps the tensors
    for (const dfcclRequest_t request : requests_) dfcclFreeRequest(request);
    return;
  }
  // Nobody waits any more, but the runs need the tensors, and whoever holds an output may look at it later.
  auto orphan = std::make_shared<Submission>(std::move(*this));
  orphan->notify([orphan]() mutable {
    runSoon([orphan = std::move(orphan)] {
      const OnQuietStream guard(orphan->device());
      std::string error;
      const End end = orphan->poll(error);
      if (end == End::aborted) orphan->group().noteGivenUp(orphan->name_, error);
      orphan->finish(end);
    });
  });
}

dfcclStream_t Submission::stream() const {
  if (kernels_) return handleOf(*kernels_);
  return issuedOn_ ? handleOf(*issuedOn_) : nullptr;
}

void Submission::finally(std::vector<at::Tensor> touched, std::function<void()> act) {
  lastly_.push_back({std::move(touched), std::move(act)});
}

at::Tensor Submission::keep(at::Tensor tensor) {
  kept_.push_back(tensor);
  return tensor;
}

at::Tensor Submission::read(const at::Tensor& tensor) {
  checkForNan(tensor, name_, *group_);
  const at::AutoDispatchBelowADInplaceOrView guard;
  return keep(tensor.resolve_conj().resolve_neg().contiguous());
}

at::Tensor Submission::update(const at::Tensor& tensor) {
  at::Tensor dense = read(tensor);
  if (!dense.is_same(tensor)) {
    finally({tensor, dense}, [tensor, dense] { copyInto(tensor, dense); });
  }
  return dense;
}

at::Tensor Submission::write(const at::Tensor& tensor) {
  if (tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg()) return keep(tensor);
  at::Tensor dense = keep(at::empty(tensor.sizes(), tensor.options().memory_format(at::MemoryFormat::Contiguous)));
  finally({tensor, dense}, [tensor, dense] { copyInto(tensor, dense); });
  return dense;
}

void Submission::add(c10::function_ref<dfcclResult_t(dfcclRequest_t*)> queue) {
  if (isTogether_) return check(queue(nullptr), std::string(name_) + " in group " + group_->name());
  const bool isElsewhere = kernels_ && *kernels_ != *issuedOn_;
  followIssuer();
  hasFollowed_ = false;
  requests_.push_back(nullptr);
  const dfcclResult_t result = queue(&requests_.back());
  if (result == dfcclSuccess) {
    if (isElsewhere) ended_ = std::make_shared<const StreamMark>(*kernels_);
    // The others have it by now: whoever keeps Python's lock keeps only this thread.
    if (!outstanding_) outstanding_ = std::make_unique<Outstanding>(name_, group_->name(), currentTagName());
    return;
  }
  requests_.pop_back();
  check(result, std::string(name_) + " in group " + group_->name());
}

Submission::End Submission::poll(std::string& error) {
  while (!requests_.empty()) {
    int isOver = 0;
    const dfcclResult_t result = dfcclTestRun(requests_.back(), &isOver);
    if (isOver == 0) return End::pending;
    if (result != dfcclSuccess) {
      isAborted_ = true;
      abortReason_ = result == dfcclAborted ? group_->whyGivenUp() : lastWords();
    }
    dfcclFreeRequest(requests_.back());
    requests_.pop_back();
  }
  error = abortReason_;
  return isAborted_ ? End::aborted : End::complete;
}

Submission::End Submission::wait(std::optional<Clock::time_point> end, std::string& error) {
  std::chrono::milliseconds untilLook = kUntilFirstLook;
  while (!requests_.empty()) {
    std::optional<Clock::time_point> until = end;
    if (mayLook()) {
      const Clock::time_point look = Clock::now() + std::exchange(untilLook, kBetweenLooks);
      if (!end || look < *end) until = look;
    }
    const dfcclResult_t result = dfcclWaitRun(requests_.back(), microsUntil(until));
    if (result == dfcclTimeout) {
      error = whoIsMissing();
      if (outstanding_) outstanding_->noteMissing(error);
      if (until == end) return End::pending;
      continue;
    }
    if (result != dfcclSuccess) {
      isAborted_ = true;
      abortReason_ = result == dfcclAborted ? group_->whyGivenUp() : lastWords();
    }
    requests_.pop_back();
  }
  error = abortReason_;
  return isAborted_ ? End::aborted : End::complete;
}

bool Submission::waitOnStream() {
  const c10::Stream current = currentStream(device_);
  if (placed_) {
    placed_->event.block(current);
    return true;
  }
  if (kernels_) {
    passKernels(current);
  } else {
    for (const dfcclRequest_t request : requests_) {
      const dfcclResult_t result = dfcclWaitRunOnStream(request, handleOf(current));
      if (result == dfcclUnavailable) return false;
      if (result != dfcclSuccess) check(result, std::string(name_) + " in group " + group_->name());
    }
  }
  place();
  // Whoever gets their memory next in this stream is behind the runs. Graphs that torch.compile makes count on it: what
  // is in their pool and isn't theirs is an error.
  if (current == *issuedOn_) kept_.clear();
  return true;
}

/// What comes in the kernels' stream is behind what the issuing one has been given by now. Once before each kernel.
void Submission::followIssuer() {
  if (kernels_ && *kernels_ != *issuedOn_ && !hasFollowed_) StreamMark(*issuedOn_).event.block(*kernels_);
  hasFollowed_ = true;
}

std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> Submission::storages() const {
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> found;
  for (const at::Tensor& tensor : kept_) found.push_back(tensor.storage().getWeakStorageImpl());
  return found;
}

/// The stream goes on behind the kernels only.
void Submission::passKernels(const c10::Stream& stream) {
  if (ended_) {
    if (stream != *kernels_) ended_->event.block(stream);
  } else if (stream != *issuedOn_) {
    StreamMark(*issuedOn_).event.block(stream);
  }
}

bool Submission::isCaptured() const {
  int isCaptured = 0;
  if (!device_.is_cpu() && !requests_.empty()) dfcclIsRunCaptured(requests_.front(), &isCaptured);
  return isCaptured != 0;
}

void Submission::settleInGraph() {
  waitOnStream();
  if (!placed_) placed_ = std::make_shared<const StreamMark>(currentStream(device_));
}

/// Once. What is used by another stream than it was made for stays until that one has come so far: tensors are given
/// back when the runs are over, of which the host hears before the streams do.
void Submission::place() {
  if (lastly_.empty()) return;
  // One that fails leaves them for whoever asks next.
  for (const Act& lastly : lastly_) lastly.act();
  const std::vector<Act> acts = std::exchange(lastly_, {});
  if (device_.is_cpu()) return;
  const c10::Stream current = currentStream(device_);
  placed_ = std::make_shared<const StreamMark>(current);
  if (current == *issuedOn_) return;
  for (const Act& lastly : acts) {
    for (const at::Tensor& tensor : lastly.touched) tensor.record_stream(current);
  }
}

void Submission::notify(std::function<void()> callback) {
  auto countdown = std::make_shared<Countdown>();
  // One more than requests, so that callbacks from within the loop don't end it.
  countdown->left = requests_.size() + 1;
  countdown->callback = std::move(callback);
  const std::vector<dfcclRequest_t> requests = requests_;
  for (const dfcclRequest_t request : requests) {
    auto argument = std::make_unique<std::shared_ptr<Countdown>>(countdown);
    if (dfcclNotifyRun(request, &Countdown::onEnd, argument.get()) == dfcclSuccess) {
      argument.release();
    } else {
      countdown->arrive();
    }
  }
  countdown->arrive();
}

void Submission::finish(End end) {
  if (end == End::complete) place();
  outstanding_.reset();
  lastly_.clear();
  kept_.clear();
  group_.reset();
}

}  // namespace dfccl_torch
