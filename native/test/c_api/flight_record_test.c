/* What is in flight can be read from outside, of ranks that are processes and have no more than the C API. */
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
  CHECK(says(record, "\"id 5\":{\"name\":\"id 5\",\"desc\":\"all-reduce\",\"ranks\":\"[0,1]\"}"));
  CHECK(says(record,
             "\"id 5\":{\"last_enqueued_collective\":1,\"last_started_collective\":1,"
             "\"last_completed_collective\":0}"));
  CHECK(says(record,
             "\"process_group\":[\"id 5\",\"all-reduce\"],\"collective_seq_id\":1,\"p2p_seq_id\":0,\"op_id\":1,"
             "\"profiling_name\":\"nccl:all_reduce\""));
  CHECK(says(record,
             "\"state\":\"started\",\"time_discovered_started_ns\":null,\"time_discovered_completed_ns\":null,"
             "\"retired\":false,\"timeout_ms\":null,\"is_p2p\":false,\"missing_ranks\":[1]}"));
  CHECK(says(record, "\"process_group\":[\"id 4\",\"all-reduce\"]"));
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

int main(void) {
  CHECK(mkdtemp(folder) != NULL);
  unsetenv("DFCCL_FLIGHT_RECORD");
  a_rank_writes_its_record_when_asked();
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(system(command) == 0);
  return report();
}
