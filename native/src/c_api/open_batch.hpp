#pragma once
// What a thread has asked for between dfcclBatchBegin and dfcclBatchEnd.
#include <cstdint>
#include <vector>

#include "c_api/group_handle.hpp"

namespace dfccl::c_api {

class OpenBatch {
 public:
  /// Of this thread, and of the callback that it is in: what that asks for is none of a batch that was begun outside.
  /// @return nullptr: none is open.
  static OpenBatch* innermost();
  /// Costs what a look at a number of the thread's costs: every run of a group asks.
  static bool isOpen() { return openCount_ != 0 && innermost() != nullptr; }
  static void begin();
  /// Takes the innermost out. @throws Error dfcclInvalidArgument: none is open.
  static OpenBatch end();

  /// One operation. @param request of its own, which it gets when the batch is submitted; may be null.
  void add(dfcclGroup_t group, std::vector<MatchedRun> runs, dfcclRequest_t* request);
  /// All operations, or none. @param request that ends with all of them; may be null. @throws Error
  void submit(dfcclRequest_t* request);

 private:
  struct Operation {
    dfcclGroup_t group;
    std::vector<MatchedRun> runs;
    dfcclRequest_t* request;
  };

  /// @throws Error dfcclClosed, dfcclInvalidArgument
  std::vector<BatchedRun> runs() const;

  static void drop();

  static constinit inline thread_local uint32_t openCount_ = 0;

  uint64_t callback_ = 0;  // that it was begun in; UserCallback::current()

  std::vector<Operation> operations_;
};

}  // namespace dfccl::c_api
