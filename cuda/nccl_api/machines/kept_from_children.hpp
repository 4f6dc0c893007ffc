#pragma once
// A descriptor that a forked child has not: else whoever is connected to this process, or wants to be, would not notice
// that it is gone as long as a child is there, and those of a program's data loaders may be.
#include "os/descriptor.hpp"

namespace dfccl::nccl {

class KeptFromChildren {
 public:
  KeptFromChildren() = default;
  explicit KeptFromChildren(Descriptor descriptor);
  KeptFromChildren(KeptFromChildren&& other) noexcept;
  KeptFromChildren& operator=(KeptFromChildren&& other) noexcept;
  ~KeptFromChildren();

  int get() const { return descriptor_.get(); }

 private:
  Descriptor descriptor_;
  int place_ = -1;  // in the table of those that a child closes; -1: there was no room
};

}  // namespace dfccl::nccl
