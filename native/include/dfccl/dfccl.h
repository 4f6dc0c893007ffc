/* The C API (DFCCL, Listing 1): collectives that ranks may run in any order.
 *
 *   dfcclRankCtx_t ctx;
 *   dfcclInit(&ctx, rank);
 *   dfcclRegisterAllReduce(count, dfcclFloat32, dfcclSum, 7, dfcclAllRanks(), 0, ctx);
 *   dfcclRunAllReduce(send, recv, 7, NULL, NULL, ctx);
 *   dfcclWait(ctx);
 *   dfcclDestroy(ctx);
 *
 * A collective completes once every one of its ranks has run it, whatever else they run in whatever order. What must
 * not be: a rank that waits for A before it runs B, while another waits for B before it runs A.
 *
 * Every function that can fail returns a code, and says what, where and what to do in dfcclGetLastError(). A context
 * may be used by any number of threads; only its destruction, and that of a collective, must not race with its use. */
#ifndef DFCCL_H
#define DFCCL_H

#include <stddef.h>
#include <stdint.h>

#include "dfccl/status.h"

/* What this header belongs to; what the library is that a program runs with, dfcclGetVersion says. Within one major
 * version a program runs with any library that isn't older than its header (docs/c.md). */
#define DFCCL_MAJOR 0
#define DFCCL_MINOR 0
#define DFCCL_PATCH 0
#define DFCCL_VERSION_CODE (DFCCL_MAJOR * 10000 + DFCCL_MINOR * 100 + DFCCL_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

typedef enum DFCCL_ANY_INT {
  dfcclInt8 = 0,
  dfcclUint8 = 1,
  dfcclInt32 = 2,
  dfcclUint32 = 3,
  dfcclInt64 = 4,
  dfcclUint64 = 5,
  dfcclFloat16 = 6,
  dfcclFloat32 = 7,
  dfcclFloat64 = 8,
  dfcclBfloat16 = 9,
  dfcclFloat8e4m3 = 10,
  dfcclFloat8e5m2 = 11
} dfcclDataType_t;

typedef enum DFCCL_ANY_INT {
  dfcclSum = 0,
  dfcclProd = 1,
  dfcclMin = 2,
  dfcclMax = 3,
  dfcclAvg = 4,
  dfcclScaledSum = 5, /* each rank's input times its own scalar: dfcclSetScale */
  dfcclBitAnd = 6,    /* of integer types, as the other two */
  dfcclBitOr = 7,
  dfcclBitXor = 8
} dfcclRedOp_t;

/* Handles are values, not addresses: one that was destroyed, or never made, is recognised and refused. */
typedef struct dfcclWorld* dfcclWorld_t;     /* ranks of this process that can reach each other */
typedef struct dfcclRankCtx* dfcclRankCtx_t; /* one rank of a world */

/* Ranks that take part, in the collective's order; NULL and 0: all ranks of the world. Copied by registration. */
typedef struct {
  const int* ranks;
  int count;
} dfcclDevSet_t;

static inline dfcclDevSet_t dfcclAllRanks(void) {
  dfcclDevSet_t all = {NULL, 0};
  return all;
}

/* Called once for each run, on a thread that waits, polls, or belongs to the engine, with no lock held: it may run and
 * register collectives, but not wait for or destroy its context. status: dfcclSuccess or dfcclAborted;
 * dfcclCountMismatch where runs bring their counts (counts.h). */
typedef void (*dfcclCallback_t)(void* callbackArgs, dfcclResult_t status);

/* ---- Worlds and ranks ---------------------------------------------------------------------------------------- */

/* A field left at 0 takes its default (docs/defaults.md). Set it up with DFCCL_WORLD_CONFIG_INIT: structSize tells the
 * library which fields its caller knows. */
typedef struct {
  size_t structSize;
  uint32_t ranks;  /* 1 to 1024; no default */
  int32_t workers; /* that step every rank; DFCCL_NO_WORKERS: callers do. Default: cores - 1, or 1; 1 if joined */
  uint32_t grid;   /* blocks of each rank's daemon; default: cores for each rank; 1 between machines */
  uint32_t submissionSlots; /* runs queued on a rank before its daemon takes them in; default 4096 */
  uint32_t completionSlots; /* runs in flight on a rank, beside one of each id; more wait. Default 4096 */
  uint32_t collectives;     /* registered at a time on a rank; default 4096 */
  uint32_t programBlocks;   /* of them together; default twice as many */
  uint32_t streams;         /* 0: preemptive. k: in order, k at once, as NCCL would: deadlocks where NCCL does */
  size_t arenaBytes;        /* for connectors and scratch; CPU: default 1 GiB of address space, touched as it is used;
                               GPU: as much of each rank's device, taken at once */
  uint32_t backend;         /* dfcclBackend_t; default the CPU */
  const int* devices;       /* GPU of each rank; default: rank r has GPU r, again from 0 where there are no more */
  size_t slotPayloadBytes;  /* most that a slot of a program's connection carries; default 32 KiB, on GPUs 128 KiB */
} dfcclWorldConfig_t;

/* A GPU's ranks have room for 1024 collectives, 1024 runs in flight and 8192 program blocks; that many, and a grid of
 * 17 blocks, are the defaults there. */
typedef enum DFCCL_ANY_INT {
  dfcclCpu = 0,  /* threads of this process */
  dfcclCuda = 1, /* NVIDIA GPUs; dfcclUnavailable where none can be used, with the reason */
  dfcclAuto = 2  /* GPUs where they can be used, else the CPU */
} dfcclBackend_t;

#define DFCCL_NO_WORKERS (-1)
#define DFCCL_WORLD_CONFIG_INIT \
  { sizeof(dfcclWorldConfig_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0 }

dfcclResult_t dfcclWorldCreate(const dfcclWorldConfig_t* config, dfcclWorld_t* world);
/* dfcclInUse while ranks of it are open. */
dfcclResult_t dfcclWorldDestroy(dfcclWorld_t world);

/* Ranks that are processes, of one or several machines: each joins, then opens its own rank with dfcclInitRank. */
typedef struct {
  size_t structSize;
  dfcclWorldConfig_t world; /* the same in every process, but for workers; ranks may be 0 where the launcher tells */
  const char* job;          /* the job's name, the same in all its processes and in no other's; NULL: see below */
  int rank;                 /* with job; otherwise not looked at */
  uint32_t timeoutMillis;   /* for all ranks to come; default 60,000 */
  uint32_t muteMillis;      /* another process without a sign of life for so long is given up; default 10,000 */
  /* With job. Where ranks of several machines meet: rank 0's and a free port, "node-0:29500"; NULL: all are on this
   * one; what they prove to know; NULL: DFCCL_JOB_SECRET, or DFCCL_JOB_SECRET_FILE, or none, as loopback may have; this
   * machine's name, the same in its processes alone; NULL: what the system says. */
  const char *address, *secret, *host;
} dfcclJoinConfig_t;

#define DFCCL_JOIN_CONFIG_INIT \
  { sizeof(dfcclJoinConfig_t), DFCCL_WORLD_CONFIG_INIT, NULL, 0, 0, 0, NULL, NULL, NULL }

/* Waits until all ranks of the job are here. Without a job in the config (which may be NULL), rank, number of ranks and
 * job are what mpirun, srun, torchrun or "dfccl launch" put in the environment; and where the ranks are on several
 * machines, the address at which they meet (MASTER_ADDR and MASTER_PORT, or DFCCL_ADDRESS) and the job's secret
 * (DFCCL_JOB_SECRET, or DFCCL_JOB_SECRET_FILE). *rank (may be NULL): this process's.
 * dfcclTimeout: names the ranks that didn't come; dfcclRegistrationMismatch: names what two ranks disagree on.
 * Where DFCCL_FLIGHT_RECORD begins a file's name, this process writes its flight record there, with the rank's number
 * after it (see dfcclWriteFlightRecord): when dfcclWaitFor first runs out of time, and at each SIGUSR2, until the world
 * is destroyed. A thread of the library's own serves the signal, while the program's hang, too, and then the handler
 * that the program had; one installed later takes its place. What can't be written is told of in dfcclWaitFor's error
 * or on stderr. */
dfcclResult_t dfcclJoinWorld(const dfcclJoinConfig_t* config, dfcclWorld_t* world, int* rank);
/* Zeroed memory for buffers: on a rank's GPU; in a joined world on a CPU, memory that the other processes can reach, in
 * which the buffers of runs must lie, unless the collective's program moves everything through connectors; else any.
 * NULL is freed as no memory; bytes: as allocated. dfcclInvalidArgument: dfcclAllocate gave no such memory in this
 * process and world, or has it back already, or gave another number of bytes. */
dfcclResult_t dfcclAllocate(size_t bytes, void** memory, dfcclRankCtx_t ctx);
dfcclResult_t dfcclFree(void* memory, size_t bytes, dfcclRankCtx_t ctx);
/* Ranks of a joined world that are gone. *count: how many there are; ranks[] gets as many as capacity allows. */
dfcclResult_t dfcclGetLostRanks(int* ranks, int capacity, int* count, dfcclRankCtx_t ctx);
/* The ranks to go on with, ascending, the same list on each of them: what a rank has seen lost by now need not be what
 * another has. Every rank that lives calls it, as often as the others do; it waits for them, and works meanwhile. Who
 * ends before all have come is not in the list. *count and ranks[] as above.
 * dfcclTimeout after so many microseconds (0: never), naming the ranks that didn't come: call it again, or end them.
 * dfcclAborted: the others have given this rank up; on several machines also: those that it reaches are too few to go
 * on, as the rest may have done so. */
dfcclResult_t dfcclAgreeOnSurvivors(uint64_t timeoutMicros, int* ranks, int capacity, int* count, dfcclRankCtx_t ctx);

/* Opens a rank of this process's default world, which the first call makes and the last dfcclDestroy ends. The
 * environment says what it is: DFCCL_BACKEND (cpu, cuda, auto; default cpu), DFCCL_RANKS (default 64, or as many as
 * GPUs), DFCCL_WORKERS. */
dfcclResult_t dfcclInit(dfcclRankCtx_t* ctx, int rank);
/* Opens a rank of a world; dfcclInUse where it is open already. */
dfcclResult_t dfcclInitRank(dfcclWorld_t world, int rank, dfcclRankCtx_t* ctx);
/* The GPU on which the rank's buffers must lie; -1: the CPU. */
dfcclResult_t dfcclGetDevice(int* device, dfcclRankCtx_t ctx);
/* Who this rank is: its number, and how many ranks its world has, however many of them have ended since. */
dfcclResult_t dfcclGetRank(int* rank, dfcclRankCtx_t ctx);
dfcclResult_t dfcclGetRankCount(int* count, dfcclRankCtx_t ctx);
/* The same among the ranks of its machine, in their ascending order: to choose a core or a device by. */
dfcclResult_t dfcclGetLocalRank(int* localRank, dfcclRankCtx_t ctx);
dfcclResult_t dfcclGetLocalRankCount(int* count, dfcclRankCtx_t ctx);
/* Its machine, numbered from 0 by its lowest rank, and how many machines the world's ranks are on: 1, but for a world
 * that was joined from several. */
dfcclResult_t dfcclGetHost(int* host, dfcclRankCtx_t ctx);
dfcclResult_t dfcclGetHostCount(int* count, dfcclRankCtx_t ctx);
/* Lets the rank's daemon leave for good, and frees what the rank has registered. It never waits for a peer: while runs
 * are in flight, or peers may still touch the buffers of an aborted one, it returns dfcclInUse and changes nothing.
 * NULL is no error. */
dfcclResult_t dfcclDestroy(dfcclRankCtx_t ctx);

/* ---- Registration -------------------------------------------------------------------------------------------- */

/* Registers a collective on this rank under an id of the caller's choice, 0 or more, the same on every rank. Never
 * waits for the others, and may be done while collectives run. All arguments but priority (larger: more urgent) must
 * agree on all ranks. count: elements of a rank's smaller buffer, as in NCCL; where each run is to bring its own, see
 * counts.h. root: position in devSet. */
dfcclResult_t dfcclRegisterAllReduce(size_t count, dfcclDataType_t type, dfcclRedOp_t op, int collId,
                                     dfcclDevSet_t devSet, int priority, dfcclRankCtx_t ctx);
dfcclResult_t dfcclRegisterAllGather(size_t count, dfcclDataType_t type, int collId, dfcclDevSet_t devSet, int priority,
                                     dfcclRankCtx_t ctx);
dfcclResult_t dfcclRegisterReduceScatter(size_t count, dfcclDataType_t type, dfcclRedOp_t op, int collId,
                                         dfcclDevSet_t devSet, int priority, dfcclRankCtx_t ctx);
dfcclResult_t dfcclRegisterReduce(size_t count, dfcclDataType_t type, dfcclRedOp_t op, int root, int collId,
                                  dfcclDevSet_t devSet, int priority, dfcclRankCtx_t ctx);
dfcclResult_t dfcclRegisterBroadcast(size_t count, dfcclDataType_t type, int root, int collId, dfcclDevSet_t devSet,
                                     int priority, dfcclRankCtx_t ctx);
dfcclResult_t dfcclRegisterAllToAll(size_t count, dfcclDataType_t type, int collId, dfcclDevSet_t devSet, int priority,
                                    dfcclRankCtx_t ctx);
dfcclResult_t dfcclRegisterGather(size_t count, dfcclDataType_t type, int root, int collId, dfcclDevSet_t devSet,
                                  int priority, dfcclRankCtx_t ctx);
dfcclResult_t dfcclRegisterScatter(size_t count, dfcclDataType_t type, int root, int collId, dfcclDevSet_t devSet,
                                   int priority, dfcclRankCtx_t ctx);
/* devSet: two ranks; sender: the position of the one that sends. */
dfcclResult_t dfcclRegisterSendRecv(size_t count, dfcclDataType_t type, int sender, int collId, dfcclDevSet_t devSet,
                                    int priority, dfcclRankCtx_t ctx);
dfcclResult_t dfcclRegisterBarrier(int collId, dfcclDevSet_t devSet, int priority, dfcclRankCtx_t ctx);
/* A program of one's own, compiled by @dfccl/compiler or built by @dfccl/primitives: this rank's bytes, copied. What it
 * computes, and its root, are what the program says. */
dfcclResult_t dfcclRegisterProgram(const void* program, size_t programBytes, size_t count, dfcclDataType_t type,
                                   dfcclRedOp_t op, int collId, dfcclDevSet_t devSet, int priority, dfcclRankCtx_t ctx);

/* The scalar of this rank's input in every dfcclScaledSum that it registers from now on; 1 at first. */
dfcclResult_t dfcclSetScale(double scale, dfcclRankCtx_t ctx);

/* Gives the id back; dfcclInUse while runs of it are in flight. Once a run of it has completed here, all ranks have
 * registered it, and each may register it anew when it likes. A registration that is given back before the others have
 * registered the id is as if it had not been: theirs will go with this rank's next. */
dfcclResult_t dfcclUnregister(int collId, dfcclRankCtx_t ctx);
/* Gives up every run of the id, on all ranks, at once and without waiting: they complete as dfcclAborted, later ones
 * too, until every rank has unregistered it. */
dfcclResult_t dfcclAbort(int collId, dfcclRankCtx_t ctx);
/* *isOver: 1 once no rank touches the buffers of the aborted id any more. Only then may they be freed. */
dfcclResult_t dfcclIsQuarantineOver(int collId, int* isOver, dfcclRankCtx_t ctx);

/* ---- Runs ---------------------------------------------------------------------------------------------------- */

/* Queues one run and returns. On a GPU, what the buffers hold must be there already, and they must lie in memory of
 * cudaMalloc on the rank's device. The buffers must stay until it has completed; both may be the same where NCCL calls
 * that in place. A buffer that this rank doesn't use may be NULL. callback may be NULL. Any number may be outstanding:
 * what exceeds the slots waits in the process's memory, and dfcclOutOfMemory says that there is none left; nothing was
 * taken then. Runs of one id are matched and executed in the order of their submission. dfcclQueueFull comes only in
 * worlds with `streams`, and of more streams than a rank has lines for: try again after a completion. */
dfcclResult_t dfcclRun(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback, void* callbackArgs,
                       dfcclRankCtx_t ctx);
/* The same, for an id that must be of the collective in the name. */
dfcclResult_t dfcclRunAllReduce(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                                void* callbackArgs, dfcclRankCtx_t ctx);
dfcclResult_t dfcclRunAllGather(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                                void* callbackArgs, dfcclRankCtx_t ctx);
dfcclResult_t dfcclRunReduceScatter(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                                    void* callbackArgs, dfcclRankCtx_t ctx);
dfcclResult_t dfcclRunReduce(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                             void* callbackArgs, dfcclRankCtx_t ctx);
dfcclResult_t dfcclRunBroadcast(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                                void* callbackArgs, dfcclRankCtx_t ctx);
dfcclResult_t dfcclRunAllToAll(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                               void* callbackArgs, dfcclRankCtx_t ctx);
dfcclResult_t dfcclRunGather(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                             void* callbackArgs, dfcclRankCtx_t ctx);
dfcclResult_t dfcclRunScatter(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                              void* callbackArgs, dfcclRankCtx_t ctx);
dfcclResult_t dfcclRunSendRecv(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                               void* callbackArgs, dfcclRankCtx_t ctx);
dfcclResult_t dfcclRunBarrier(int collId, dfcclCallback_t callback, void* callbackArgs, dfcclRankCtx_t ctx);
/* For ids of dfcclRegisterProgram. */
dfcclResult_t dfcclRunProgram(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                              void* callbackArgs, dfcclRankCtx_t ctx);

/* ---- Completion ---------------------------------------------------------------------------------------------- */

/* Waits until every run that this rank has queued has completed and its callback has returned. The caller works
 * meanwhile: for its own rank, and for ranks that nobody waits for. Not from a callback: dfcclInUse.
 * In order (config.streams): dfcclDeadlock, naming the cycle, where it would never end. */
dfcclResult_t dfcclWait(dfcclRankCtx_t ctx);
/* dfcclTimeout after so many microseconds (0: never), naming the ranks that are missing, and, the first time, the
 * flight record that was written where one is asked for (dfcclJoinWorld); nothing is given up. */
dfcclResult_t dfcclWaitFor(uint64_t timeoutMicros, dfcclRankCtx_t ctx);
/* Waits for several ranks of one world: for a thread that drives them all. */
dfcclResult_t dfcclWaitAll(const dfcclRankCtx_t* ctxs, int count);
/* Does a bounded piece of work and runs callbacks that are due. *delivered (may be NULL): how many runs completed. */
dfcclResult_t dfcclPoll(int* delivered, dfcclRankCtx_t ctx);
/* Device synchronization: waits until the daemon that is on the device now has left it. What waits for other ranks
 * doesn't keep it. Callbacks are not run. On a GPU this is cudaDeviceSynchronize, which may as well be called itself.
 */
dfcclResult_t dfcclSynchronize(dfcclRankCtx_t ctx);

/* ---- Errors and versions -------------------------------------------------------------------------------------- */

/* What went wrong in this thread's last call that failed; "" if none did. Valid until the thread's next failure. */
const char* dfcclGetLastError(void);
const char* dfcclGetErrorString(dfcclResult_t result);
/* Of the library: "major.minor.patch", and as DFCCL_VERSION_CODE would have it. */
const char* dfcclVersion(void);
dfcclResult_t dfcclGetVersion(int* version);

#ifdef __cplusplus
}
#endif

#include "dfccl/counts.h"    /* runs that bring their counts */
#include "dfccl/groups.h"    /* groups of ranks, and collectives that need no registration */
#include "dfccl/inspect.h"   /* counters, traces, flight records, and what a rank waits for */
#include "dfccl/operators.h" /* operators of one's own, on CPUs */
#include "dfccl/streams.h"   /* runs behind CUDA's streams, and streams that wait for runs */

#endif
