/* What is in flight can be read from outside, of ranks that are processes and have no more than the C API. */
#include <sched.h>
#include <time.h>

#include "c_api/processes.h"

enum { kCount = 10, kDone = 4, kMissed = 5 };

static char folder[] = "/tmp/dfccl-c-XXXXXX";

static const char* in_folder(const char* name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* What is in a file; NULL where there is none. */
static const char* content_of(const char* path) {
  static char text[1 << 16];
  FILE* file = fopen(path, "r");
  if (file == NULL) return NULL;
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

/* Looks until a file is there; NULL after a minute. The system tells nobody who renames into a folder. */
static const char* await_content(const char* path) {
  const time_t end = time(NULL) + 60;
  const char* content;
  while ((content = content_of(path)) == NULL && time(NULL) < end) sched_yield();
  return content;
}

static int says(const char* text, const char* part) {
  if (text != NULL && strstr(text, part) != NULL) return 1;
  fprintf(stderr, "\"%s\" doesn't say \"%s\"\n", text == NULL ? "(nothing)" : text, part);
  return 0;
}

/* Both have run kDone; rank 0 alone has queued kMissed, and its daemon has taken it in. */
static void leave_one_alone(dfcclRankCtx_t ctx, int rank, void** memory) {
  CHECK_OK(dfcclAllocate(kCount * sizeof(float), memory, ctx));
  for (int id = kDone; id <= kMissed; id++) {
    CHECK_OK(dfcclRegisterAllReduce(kCount, dfcclFloat32, dfcclSum, id, dfcclAllRanks(), 0, ctx));
  }
  CHECK_OK(dfcclRun(*memory, *memory, kDone, NULL, NULL, ctx));
  CHECK_OK(dfcclWait(ctx));
  if (rank == 1) return;
  CHECK_OK(dfcclRun(*memory, *memory, kMissed, NULL, NULL, ctx));
  dfcclCounters_t counters = {.structSize = sizeof counters};
  while (counters.runsTaken < 2) {
    CHECK_OK(dfcclPoll(NULL, ctx));
    CHECK_OK(dfcclGetCounters(&counters, ctx));
  }
}

/* The missing rank comes after all. */
static void go_on(dfcclRankCtx_t ctx, int rank, void* memory) {
  if (rank == 1) CHECK_OK(dfcclRun(memory, memory, kMissed, NULL, NULL, ctx));
  CHECK_OK(dfcclWait(ctx));
  CHECK_OK(dfcclFree(memory, kCount * sizeof(float), ctx));
}

static void check_record_of_waiting(const char* record) {
  CHECK(says(record, "{\"version\":\"2.10\",\"pg_config\":{"));
  CHECK(says(record, "\"id 5\":{\"name\":\"id 5\",\"desc\":\"all-reduce 5\",\"ranks\":\"[0,1]\"}"));
  CHECK(says(record,
             "\"id 5\":{\"last_enqueued_collective\":1,\"last_started_collective\":1,"
             "\"last_completed_collective\":0}"));
  CHECK(says(record,
             "\"process_group\":[\"id 5\",\"all-reduce 5\"],\"collective_seq_id\":1,\"p2p_seq_id\":0,\"op_id\":1,"
             "\"profiling_name\":\"nccl:all_reduce\""));
  CHECK(says(record,
             "\"state\":\"started\",\"time_discovered_started_ns\":null,\"time_discovered_completed_ns\":null,"
             "\"retired\":false,\"timeout_ms\":null,\"is_p2p\":false,\"missing_ranks\":[1]}"));
  CHECK(says(record, "\"process_group\":[\"id 4\",\"all-reduce 4\"]"));
  CHECK(says(record, "\"state\":\"completed\""));
}

static void rank_that_records(dfcclRankCtx_t ctx, int rank, struct line line) {
  void* memory = NULL;
  leave_one_alone(ctx, rank, &memory);
  if (rank == 0) {
    CHECK(dfcclWaitFor(1000, ctx) == dfcclTimeout);
    CHECK(strstr(dfcclGetLastError(), "flight record") == NULL);
    const char* path = in_folder("asked/for/it");
    CHECK_OK(dfcclWriteFlightRecord(path, ctx));
    check_record_of_waiting(content_of(path));
    path = in_folder("asked/for/it/below");
    CHECK(dfcclWriteFlightRecord(path, ctx) == dfcclSystemError);
    CHECK(says(dfcclGetLastError(), path));
    CHECK(says(dfcclGetLastError(),
               "can't be written: Not a directory. Name a file in a folder that this process may "
               "write to."));
    CHECK(dfcclWriteFlightRecord(in_folder("asked"), ctx) == dfcclSystemError);
    CHECK(says(dfcclGetLastError(), "Is a directory"));
    CHECK(dfcclWriteFlightRecord("/proc/nothing/here", ctx) == dfcclSystemError);
    CHECK(dfcclWriteFlightRecord("", ctx) == dfcclInvalidArgument);
    say(line);
  }
  hear(line);
  go_on(ctx, rank, memory);
}

static void a_rank_writes_its_record_when_asked(void) {
  struct rank_process ranks[2];
  begin_ranks(ranks, rank_that_records);
  hear(ranks[0].parent);
  for (int rank = 0; rank < 2; rank++) say(ranks[rank].parent);
  end_ranks(ranks);
}

static void rank_that_runs_out_of_time(dfcclRankCtx_t ctx, int rank, struct line line) {
  void* memory = NULL;
  leave_one_alone(ctx, rank, &memory);
  if (rank == 0) {
    const char* path = in_folder("timeout/rank_0");
    CHECK(dfcclWaitFor(1000, ctx) == dfcclTimeout);
    CHECK(says(dfcclGetLastError(), "rank 1 has not submitted it. The flight record is in /"));
    CHECK(says(dfcclGetLastError(), path));
    check_record_of_waiting(content_of(path));
    /* The first one alone: it says best how it began. */
    CHECK(unlink(path) == 0);
    CHECK(dfcclWaitFor(1, ctx) == dfcclTimeout);
    CHECK(strstr(dfcclGetLastError(), "flight record") == NULL);
    CHECK(content_of(path) == NULL);
    say(line);
  }
  hear(line);
  go_on(ctx, rank, memory);
}

static void the_first_timeout_writes_a_record(void) {
  setenv("DFCCL_FLIGHT_RECORD", in_folder("timeout/rank_"), 1);
  struct rank_process ranks[2];
  begin_ranks(ranks, rank_that_runs_out_of_time);
  hear(ranks[0].parent);
  for (int rank = 0; rank < 2; rank++) say(ranks[rank].parent);
  end_ranks(ranks);
  CHECK(content_of(in_folder("timeout/rank_1")) == NULL);
}

/* Hangs in its own code, as far as the library can tell: no thread of its own waits, polls or runs anything. */
static void rank_that_hangs(dfcclRankCtx_t ctx, int rank, struct line line) {
  void* memory = NULL;
  leave_one_alone(ctx, rank, &memory);
  say(line);
  hear(line);
  go_on(ctx, rank, memory);
}

static void a_signal_writes_a_record_and_ends_nothing(void) {
  setenv("DFCCL_FLIGHT_RECORD", in_folder("signal/rank_"), 1);
  struct rank_process ranks[2];
  begin_ranks(ranks, rank_that_hangs);
  for (int rank = 0; rank < 2; rank++) hear(ranks[rank].parent);
  CHECK(kill(ranks[0].pid, SIGUSR2) == 0);
  check_record_of_waiting(await_content(in_folder("signal/rank_0")));
  CHECK(content_of(in_folder("signal/rank_1")) == NULL);
  CHECK(kill(ranks[1].pid, SIGUSR2) == 0);
  const char* missing = await_content(in_folder("signal/rank_1"));
  CHECK(says(missing, "\"id 5\":{\"last_enqueued_collective\":0,"));
  CHECK(says(missing, "\"process_group\":[\"id 4\",\"all-reduce 4\"]"));
  CHECK(missing == NULL || strstr(missing, "\"process_group\":[\"id 5\"") == NULL);
  /* Again and again. */
  CHECK(unlink(in_folder("signal/rank_1")) == 0);
  CHECK(kill(ranks[1].pid, SIGUSR2) == 0);
  CHECK(await_content(in_folder("signal/rank_1")) != NULL);
  for (int rank = 0; rank < 2; rank++) say(ranks[rank].parent);
  end_ranks(ranks);
}

static void rank_that_cannot_write(dfcclRankCtx_t ctx, int rank, struct line line) {
  void* memory = NULL;
  leave_one_alone(ctx, rank, &memory);
  if (rank == 0) {
    CHECK(dfcclWaitFor(1000, ctx) == dfcclTimeout);
    CHECK(says(dfcclGetLastError(), "rank 1 has not submitted it. The flight record /"));
    CHECK(says(dfcclGetLastError(), "/file/rank_0 can't be written: Not a directory."));
    CHECK(dfcclWaitFor(1, ctx) == dfcclTimeout);
    CHECK(strstr(dfcclGetLastError(), "flight record") == NULL);
  } else {
    CHECK(freopen(in_folder("warnings"), "w", stderr) != NULL);
    setvbuf(stderr, NULL, _IONBF, 0);
  }
  say(line);
  hear(line);
  go_on(ctx, rank, memory);
}

static void a_record_that_cannot_be_written_is_told_of_and_changes_nothing(void) {
  fclose(fopen(in_folder("file"), "w"));
  setenv("DFCCL_FLIGHT_RECORD", in_folder("file/rank_"), 1);
  struct rank_process ranks[2];
  begin_ranks(ranks, rank_that_cannot_write);
  for (int rank = 0; rank < 2; rank++) hear(ranks[rank].parent);
  CHECK(kill(ranks[1].pid, SIGUSR2) == 0);
  const time_t end = time(NULL) + 60;
  while (strchr(content_of(in_folder("warnings")), '\n') == NULL && time(NULL) < end) sched_yield();
  CHECK(says(content_of(in_folder("warnings")), "dfccl: The flight record /"));
  CHECK(says(content_of(in_folder("warnings")), "/file/rank_1 can't be written: Not a directory. Name a file in"));
  for (int rank = 0; rank < 2; rank++) say(ranks[rank].parent);
  end_ranks(ranks);
}

/* The control: nobody has asked for records, so the signal is as the system and the program have it. */
static void without_the_variable_the_signal_is_left_alone(void) {
  unsetenv("DFCCL_FLIGHT_RECORD");
  struct rank_process ranks[2];
  begin_ranks(ranks, rank_that_hangs);
  for (int rank = 0; rank < 2; rank++) hear(ranks[rank].parent);
  for (int rank = 0; rank < 2; rank++) {
    int status = 0;
    CHECK(kill(ranks[rank].pid, SIGUSR2) == 0);
    CHECK(waitpid(ranks[rank].pid, &status, 0) == ranks[rank].pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2);
  }
}

int main(void) {
  CHECK(mkdtemp(folder) != NULL);
  unsetenv("DFCCL_FLIGHT_RECORD");
  a_rank_writes_its_record_when_asked();
  the_first_timeout_writes_a_record();
  a_signal_writes_a_record_and_ends_nothing();
  a_record_that_cannot_be_written_is_told_of_and_changes_nothing();
  without_the_variable_the_signal_is_left_alone();
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(system(command) == 0);
  return report();
}
