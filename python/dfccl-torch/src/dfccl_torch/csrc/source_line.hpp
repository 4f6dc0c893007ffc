#pragma once
#include <memory>
#include <string>

namespace dfccl_torch {

/// Where in the Python program something was issued: the innermost line of the program's own; of what is installed,
/// where there is none; never one of torch's or of this package's.
class SourceLine {
 public:
  /// Once, with the interpreter's lock, before the first current().
  static void prepare();
  /// Of the calling thread. Nothing where it runs no Python, or where DFCCL_SOURCE_LINES=0. Takes the interpreter's
  /// lock.
  static SourceLine current();

  /// "/path/train.py:42 in step"; empty: unknown.
  std::string text() const;

 private:
  friend class CallerSearch;
  struct Code;

  std::shared_ptr<const Code> code_;
  int line_ = 0;
};

}  // namespace dfccl_torch
