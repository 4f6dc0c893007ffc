// What a work's error says when its time is up.
#include "work.hpp"

namespace dfccl_torch {

std::string DfcclWork::timedOut(std::chrono::milliseconds limit, const std::string& missing) const {
  return "dfccl, " + std::string(label_.name()) + " in group " + groupName_ + ": Timed out after " +
         std::to_string(limit.count()) + " ms: " + missing + othersHere(missing) +
         " A rank that is missing may have issued one of another size, type, operator or tag, which is another "
         "operation: dfccl_torch.explain() there tells of it. This one may be waited for again; abort() of the group's "
         "backend gives it up." +
         whereIssued();
}

std::string DfcclWork::whereIssued() const {
  const std::string source = issuedAt_.text();
  return source.empty() ? "" : " It was issued at " + source + ".";
}

std::string DfcclWork::othersHere(const std::string& missing) const {
  if (!positions_) return "";
  const size_t end = missing.find(", position");  // of this work's words, which come first
  // Without those words, as where another thread waits for it too, there is nothing to compare; nor are the parts of
  // which some operations are made the same on all ranks.
  const bool isPart = missing.find(", part of") != std::string::npos;
  return end == std::string::npos || isPart ? "" : positions_->compare(sequence_, worldRank_, missing.substr(0, end));
}

}  // namespace dfccl_torch
