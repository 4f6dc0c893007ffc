#include "operation.hpp"

#include "error.hpp"
#include "hash.hpp"
#include "known_names.hpp"
#include "tag.hpp"

namespace dfccl_torch {
namespace {

bool isMessage(c10d::OpType type) {
  return type == c10d::OpType::SEND || type == c10d::OpType::RECV || type == c10d::OpType::RECVANYSOURCE;
}

}  // namespace

DfcclBackend::Operation::Operation(DfcclBackend& backend, const Label& label, c10::Device device,
                                   std::chrono::milliseconds timeout, bool isAsync)
    : backend_(backend),
      guard_(device),
      label_(label),
      timeout_(timeout.count() < 0 ? backend.options_->timeout : timeout),
      sequence_(isPartOfAnother() ? backend.sequence_.load() : ++backend.sequence_),
      tag_(collectiveTag(sequence_)),
      number_(matchesByPosition() ? sequence_ : 0),
      submission_(backend.membership_.forCollective(device), device, label.name(), isAsync) {
  submission_.group().tellGivenUp();
}

DfcclBackend::Operation::Operation(DfcclBackend& backend, const Label& label, c10::Device device, int tag)
    : backend_(backend),
      guard_(device),
      label_(label),
      timeout_(backend.options_->timeout),
      sequence_(backend.sequence_),
      tag_(mixed(currentTag(), static_cast<uint64_t>(tag))),
      number_(static_cast<uint64_t>(tag)),
      submission_(backend.membership_.on(device), device, label.name()) {
  submission_.group().tellGivenUp();
}

uint64_t DfcclBackend::Operation::tag(uint64_t distinction) const {
  const uint64_t whole = mixed(tag_, distinction);
  if (!isNoted(whole)) {
    const bool isPart = isPartOfAnother();
    noteTag(whole, {isPart ? "the sum of a sparse tensor" : "", currentTagName(), isPart ? 0 : number_,
                    isMessage(label_.type), distinction});
  }
  return whole;
}

void DfcclBackend::Operation::require(bool isTrue, const char* what) const {
  if (!isTrue) refuseIt(what);
}

const at::Tensor& DfcclBackend::Operation::checked(const Tensor& tensor) const {
  if (tensor.device() != submission_.device()) {
    refuseIt("was given tensors on " + submission_.device().str() + " and on " + tensor.device().str() + ".",
             "Move them to one device.");
  }
  if (tensor.layout() != at::kStrided) {
    refuseIt("was given a sparse tensor.", "Pass its values, or tensor.to_dense().");
  }
  return tensor;
}

at::Tensor& DfcclBackend::Operation::only(Tensors& tensors) const {
  if (tensors.size() != 1) refuseIt("takes one tensor, and got " + std::to_string(tensors.size()) + ".");
  checked(tensors.front());
  return tensors.front();
}

void DfcclBackend::Operation::checkList(const Tensors& tensors, at::ScalarType type) const {
  if (static_cast<int>(tensors.size()) != size()) {
    refuseIt("takes a list of " + std::to_string(size()) + " tensors, one a rank, and got " +
             std::to_string(tensors.size()) + ".");
  }
  for (const Tensor& tensor : tensors) {
    if (checked(tensor).scalar_type() == type) continue;
    refuseIt(std::string("takes tensors of one type, and got ") + c10::toString(tensor.scalar_type()) + " beside " +
             c10::toString(type) + ".");
  }
}

void DfcclBackend::Operation::refuseIt(const std::string& what, const std::string& remedy) const {
  refuse(std::string(label_.name()) + " " + what, remedy);
}

DfcclBackend::Handle DfcclBackend::Operation::start(Outputs outputs, const Tensors& inputs) {
  return backend_.handOut(c10::make_intrusive<DfcclWork>(backend_.getRank(), label_, inputs, std::move(outputs),
                                                         std::move(submission_), timeout_, sequence_));
}

DfcclBackend::Handle DfcclBackend::Operation::startFromAny(const Tensor& source, Tensors& outputs) {
  return backend_.handOut(c10::make_intrusive<DfcclWork>(backend_.getRank(), label_, outputs, Outputs{outputs},
                                                         std::move(submission_), timeout_, sequence_, source));
}

DfcclBackend::Handle DfcclBackend::Operation::startBuffered(const Tensors& inputs, int peer) {
  Submission nothing(backend_.membership_.onCpu(), c10::kCPU, label_.name());
  backend_.buffered_->keep(std::move(submission_), peer);
  return backend_.handOut(c10::make_intrusive<DfcclWork>(backend_.getRank(), label_, inputs, Outputs(),
                                                         std::move(nothing), timeout_, sequence_));
}

}  // namespace dfccl_torch
