/* One version: of the header, of the library, and of the packages. */
#include "c_api/check.h"

int main(void) {
  char of_header[64];
  snprintf(of_header, sizeof of_header, "%d.%d.%d", DFCCL_MAJOR, DFCCL_MINOR, DFCCL_PATCH);
  CHECK(strcmp(dfcclVersion(), of_header) == 0); /* the library has it from native/package.json */
  CHECK(DFCCL_MINOR < 100 && DFCCL_PATCH < 100);

  int version = -1;
  CHECK_OK(dfcclGetVersion(&version));
  CHECK(version == DFCCL_VERSION_CODE);
  CHECK(version == DFCCL_MAJOR * 10000 + DFCCL_MINOR * 100 + DFCCL_PATCH);
  CHECK(dfcclGetVersion(NULL) == dfcclInvalidArgument);
  CHECK(strstr(dfcclGetLastError(), "version is null") != NULL);
  return report();
}
