#include "positions.hpp"

#include <exception>
#include <utility>

namespace dfccl_torch {

Positions::Positions(c10::intrusive_ptr<c10d::Store> store, std::string prefix, std::vector<int> ranks)
    : store_(std::move(store)), prefix_(std::move(prefix)), ranks_(std::move(ranks)) {}

std::string Positions::key(uint64_t position, int rank) const {
  return prefix_ + "/position/" + std::to_string(position) + "/" + std::to_string(rank);
}

std::string Positions::compare(uint64_t position, int rank, const std::string& operation) const {
  std::string words;
  try {
    store_->set(key(position, rank), operation);
    for (const int other : ranks_) {
      if (other == rank || !store_->check({key(position, other)})) continue;
      const std::vector<uint8_t> told = store_->get(key(position, other));
      const std::string theirs(told.begin(), told.end());
      if (theirs == operation) continue;
      words += " At position " + std::to_string(position) + " rank " + std::to_string(other) + " has issued " + theirs +
               ", and this one " + operation + ".";
    }
  } catch (const std::exception&) {
    // The store may be gone with whoever kept it: then the error says the rest.
  }
  return words;
}

}  // namespace dfccl_torch
