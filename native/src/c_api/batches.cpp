// Batches: begun, ended, given up.
#include "c_api/last_error.hpp"
#include "c_api/open_batch.hpp"

using namespace dfccl;
using namespace dfccl::c_api;

extern "C" {

dfcclResult_t dfcclBatchBegin(void) {
  return guarded([] {
    OpenBatch::begin();
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclBatchEnd(dfcclRequest_t* request) {
  return guarded([&] {
    if (request != nullptr) *request = nullptr;
    OpenBatch::end().submit(request);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclBatchCancel(void) {
  return guarded([] {
    OpenBatch::end();
    return dfcclSuccess;
  });
}
}
