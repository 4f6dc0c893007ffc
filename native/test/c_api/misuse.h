/* For tests of wrong arguments: a call that is right but for one argument has to be refused, with a message, and
 * nothing may crash, hang or change. Each table lists the functions that take one kind of argument. That no function is
 * missing in all these tests, the check "c library" of `npm test` looks after. */
#ifndef DFCCL_TEST_MISUSE_H
#define DFCCL_TEST_MISUSE_H

#include <limits.h>
#include <stdint.h>
#include <unistd.h>

#include "c_api/check.h"

/* What a call is expected to be refused with; kAny: with whatever, but refused. */
enum { kAny = -1 };

/* Before a call, so that what it says is not what another one said. */
static const char* const kMark = "The address for the version is null.";
static inline void mark(void) { CHECK(dfcclGetVersion(NULL) == dfcclInvalidArgument); }

static inline void expect_refused(const char* function, const char* argument, int expected, dfcclResult_t result) {
  const char* message = dfcclGetLastError();
  const int is_told = strlen(message) > 20 && strncmp(message, kMark, strlen(kMark)) != 0;
  const int is_refused = expected == kAny ? result != dfcclSuccess : (int)result == expected;
  if (is_told && is_refused) {
    CHECK(1);
    return;
  }
  fprintf(stderr, "%s with %s: %s (%s)\n", function, argument, dfcclGetErrorString(result), message);
  CHECK(!"it is refused with a message, as expected");
}

/* Nothing tells the library of a job that it might join. */
static inline void without_launcher(void) {
  static const char* const launchers[] = {"DFCCL_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_STEP_NUM_TASKS", "PMI_RANK",
                                          "RANK"};
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) unsetenv(launchers[i]);
}

#define NAMED(function, call) {#function, with_##function},
/* A test's DEFINE makes the functions of a table, whose parameters are `c`, the context, and `x`, the argument. */
#define TABLE(list, type, table) \
  static const struct {          \
    const char* name;            \
    dfcclResult_t (*call)(type); \
  } table[] = {list(NAMED)};

#endif
