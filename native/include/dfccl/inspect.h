/* Looking inside: what ranks have done, do, and wait for; part of dfccl.h. None of it changes anything. */
#ifndef DFCCL_INSPECT_H
#define DFCCL_INSPECT_H

#ifndef DFCCL_H
#error "Include dfccl/dfccl.h, which includes this."
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a rank's daemon counted since it was made; sums over its blocks. Set structSize before the call. */
typedef struct {
  size_t structSize;
  uint64_t launches;           /* starts of the daemon */
  uint64_t quits;              /* of them, ended by its own decision */
  uint64_t runsTaken;          /* submissions that the daemon has seen */
  uint64_t runsCompleted;      /* completions that it posted */
  uint64_t visits;             /* looks at whether a collective can go on */
  uint64_t stuckVisits;        /* of them, in vain */
  uint64_t slices;             /* visits that moved data */
  uint64_t preemptions;        /* collectives that gave their turn to another */
  uint64_t contextLoads;       /* see DFCCL, section 4.2 */
  uint64_t contextSaves;       /* of contexts that had changed */
  uint64_t queueLengthSum;     /* divided by visits: the task queue's mean length */
  uint64_t queueLengthMaximum; /* over all blocks */
  uint64_t bytesMoved;         /* read and written */
  uint64_t runsInFlight;       /* queued and not yet delivered */
  uint64_t collectiveBytes;    /* memory of this rank's registrations, now */
  uint64_t arenaBytesUsed;     /* of the whole world, now */
} dfcclCounters_t;

dfcclResult_t dfcclGetCounters(dfcclCounters_t* counters, dfcclRankCtx_t ctx);

/* Writes what the daemons of these ranks did last to a file, for ui.perfetto.dev: a track a block, with its stays, the
 * work of its threads, the moments of its runs and its counters. It is always recorded; a few milliseconds of it are
 * kept. dfcclUnavailable on a CPU. */
dfcclResult_t dfcclWriteTrace(const char* path, const dfcclRankCtx_t* ctxs, int count);

/* Writes this rank's flight record to a file: JSON in the form of PyTorch's flight recorder, whose analyzer reads it
 * (docs/processes/missing-rank.md). For each collective, how many runs this rank's daemon has taken in, begun and
 * finished; for each run from the slowest rank's last on (the last 64 at most) its state, since when it is under way
 * (nanoseconds since 1970, to a tenth of a second), and in missing_ranks whose daemon hasn't taken it in yet, as
 * daemons do while a worker thread, or one that waits or polls, steps them. The file is there whole or not at all; its
 * folder is made where there is none. Any thread may call this at any time. dfcclInvalidArgument: the path is NULL or
 * empty. dfcclUnavailable: the world was not joined with dfcclJoinWorld. dfcclSystemError: the file can't be written,
 * with its path and the system's reason. dfcclTimeout: a stopped process has held the world's lock for 10 s, with its
 * rank. */
dfcclResult_t dfcclWriteFlightRecord(const char* path, dfcclRankCtx_t ctx);

/* What this rank does and waits for, in words, for whoever looks into a program that hangs: of each collective with
 * runs that aren't over, which ranks are missing; on GPUs, besides, whether the daemon is resident, and how far the
 * streams are that have runs on their way. At most `bytes` bytes are written, the 0 at the end included. Any thread, at
 * any time; nothing of CUDA is called. dfcclInvalidArgument: `text` is NULL, or `bytes` is 0. */
dfcclResult_t dfcclDescribe(char* text, size_t bytes, dfcclRankCtx_t ctx);

#ifdef __cplusplus
}
#endif

#endif
