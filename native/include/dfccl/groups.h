/* Groups of ranks, and collectives that need no registration; part of dfccl.h.
 *
 *   dfcclGroup_t group;
 *   dfcclGroupCreate(NULL, 0, 0, &group, ctx);
 *   dfcclRequest_t request;
 *   dfcclAllReduce(send, recv, count, dfcclFloat32, dfcclSum, group, 0, NULL, &request);
 *   dfcclWaitRun(request, 0);
 *
 * Runs are matched by their signature: the group, what is computed, type, operator, root or peer, count, and the tag, a
 * number of the caller's. Those that are equal in all of it go together in the order of their submission; all others in
 * any order, so no rank's order of submission can make others wait for ever. The first use of a signature registers it
 * on this rank alone and waits for nobody; what has long been unused is forgotten. */
#ifndef DFCCL_GROUPS_H
#define DFCCL_GROUPS_H

#ifndef DFCCL_H
#error "Include dfccl/dfccl.h, which includes this."
#endif

#include "dfccl/streams.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Handles are values, as those of ranks are. */
typedef struct dfcclGroup* dfcclGroup_t;     /* one rank's membership in a group */
typedef struct dfcclRequest* dfcclRequest_t; /* a run that was submitted with one of the functions below */

/* ---- Groups -------------------------------------------------------------------------------------------------- */

/* A group of these ranks of the world, in this order; NULL and 0: all of them. This rank must be one. Never waits for
 * the others: each makes and drops groups when it likes. `name` tells groups of the same ranks apart; the n-th group
 * that a rank makes of the same ranks and name goes with the n-th of the others. */
dfcclResult_t dfcclGroupCreate(const int* ranks, int count, uint64_t name, dfcclGroup_t* group, dfcclRankCtx_t ctx);
/* Forgets the group; dfcclInUse while runs of it are in flight on this rank. NULL is no error. */
dfcclResult_t dfcclGroupDestroy(dfcclGroup_t group);
/* The group's members of the same colour, by ascending key, and among equal keys by their place in the group; a colour
 * below 0: in none, and *part is NULL. Every member calls it, as often as the others do, and waits for them;
 * dfcclTimeout after so many microseconds (0: never). */
dfcclResult_t dfcclGroupSplit(dfcclGroup_t group, int colour, int key, uint64_t timeoutMicros, dfcclGroup_t* part);
/* This rank's place in the group, and how many members it has. */
dfcclResult_t dfcclGroupGetRank(int* rank, dfcclGroup_t group);
dfcclResult_t dfcclGroupGetRankCount(int* count, dfcclGroup_t group);
/* Gives up all that this rank has in flight in the group: requests end as dfcclAborted, on the other members of those
 * runs too that have submitted them by now; and refuses what comes later on this rank with dfcclAborted. A member that
 * comes to such a run only later is not told, and waits until its own limit is over. Other members may touch the
 * buffers of runs that were given up for a moment yet: keep them until dfcclDestroy of this rank has succeeded, which
 * waits for that. */
dfcclResult_t dfcclGroupAbort(dfcclGroup_t group);

/* On GPUs: from here on, the group's runs that are behind a stream, and in which a member receives at most `mostBytes`
 * of the others, are kernels in that stream, as NCCL's are, and no work of a daemon's: the stream goes on only when
 * they are over, and a link of a chain takes a third of the time. To be called by all members alike, before the group's
 * first run: such runs meet each other only. They are refused without a stream, and so are receives from any rank
 * (dfcclUnavailable). Without a batch one waits for the other. Those of one stream that are submitted in a batch are
 * under way at once, whatever their order, as long as they are 24 at most and the device has room for each to wait on a
 * multiprocessor, beside what waits there already; more come one behind the other in an order that members have in
 * common whose batches are alike. Of those that are alike (of one type, count, tag, and root or peer) one follows the
 * other, and waits for nothing else of the batch. None may read what another of it writes. A message of up to 256 KB,
 * and up to 28 KB for each block where its kernel has fewer than 16, is over for its sender before it is received, two
 * of each signature, once the receiver has asked for one such; a larger one waits. Messages to oneself, but those of
 * uneven forms, and splits are as before. A kernel is launched, for which the caller may have to wait while another
 * thread keeps CUDA's driver to itself, as in cudaFree. Members that are ranks of one process on one GPU want 32
 * hardware queues (CUDA_DEVICE_MAX_CONNECTIONS). `mostBytes` 0: no run is. Of a run's kernel at most `mostBlocks`
 * blocks, a multiprocessor each, carry it out; 0: up to 32, by its size. All members pass the same
 * (dfcclRegistrationMismatch of their runs). dfcclUnavailable: the group is on CPUs or on several machines, or has more
 * than 64 members. A batch in which more than 24 members share a stream is refused so, too. */
typedef enum DFCCL_ANY_INT {
  dfcclForAll = 0,       /* what a run has written is there for whoever knows by its request that it is over */
  dfcclForItsStream = 1, /* only for what comes behind it in its stream, as with NCCL: a run is over 2 us sooner
                          * between two H200. The host may wait for its request all the same, and reads, writes and
                          * frees the buffers behind it in the stream; other streams wait for an event of the stream's,
                          * and not for the request (dfcclUnavailable). Each member chooses */
} dfcclReaders_t;
dfcclResult_t dfcclGroupRunInStreams(dfcclGroup_t group, size_t mostBytes, int mostBlocks, dfcclReaders_t readers);

/* ---- Collectives --------------------------------------------------------------------------------------------- */

/* Each queues one run and returns. Buffers, counts and what lies where are as NCCL has them: `count` is the number of
 * elements of a rank's smaller buffer, and in place is what NCCL calls so. Roots and peers are places in the group.
 * A count of 0 is a run that everybody has to make, and moves nothing.
 *
 * Buffers may be any memory of the process; on a GPU, of the rank's device. They are the run's until it is over: until
 * then, what is sent must not be written, and where it is received nothing may be read or written. In a joined world on
 * a CPU, what doesn't lie in memory of dfcclAllocate is copied to where all reach it: as a whole, or, of large buffers,
 * piece by piece while the run goes on.
 *
 * tag: any number. stream: of CUDA; the run begins when it has done all that it was given before; NULL: begins at once
 * (the default stream's name is cudaStreamLegacy). On a CPU it must be NULL.
 * request: gets a handle of the run, which dfcclWaitRun and the others take, and which must be given back; NULL: none
 * is wanted, and dfcclWait tells when it is over.
 *
 * dfcclInvalidArgument: the group is none, a root or peer is outside of it, a count overflows, memory is null, the
 * operator is dfcclScaledSum (whose scalars are registered) or one of bits for a type that is no integer, or buffers
 * overlap in another way than the collective allows.
 *
 * dfcclOutOfMemory: a rank has room for as many different calls in flight, those that differ in their signature, as the
 * world's `collectives` says, less what it has registered under ids; equal ones have no limit. Nothing was queued. */
dfcclResult_t dfcclAllReduce(const void* sendbuff, void* recvbuff, size_t count, dfcclDataType_t type, dfcclRedOp_t op,
                             dfcclGroup_t group, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request);
dfcclResult_t dfcclReduce(const void* sendbuff, void* recvbuff, size_t count, dfcclDataType_t type, dfcclRedOp_t op,
                          int root, dfcclGroup_t group, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request);
dfcclResult_t dfcclBroadcast(const void* sendbuff, void* recvbuff, size_t count, dfcclDataType_t type, int root,
                             dfcclGroup_t group, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request);
dfcclResult_t dfcclAllGather(const void* sendbuff, void* recvbuff, size_t count, dfcclDataType_t type,
                             dfcclGroup_t group, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request);
dfcclResult_t dfcclReduceScatter(const void* sendbuff, void* recvbuff, size_t count, dfcclDataType_t type,
                                 dfcclRedOp_t op, dfcclGroup_t group, uint64_t tag, dfcclStream_t stream,
                                 dfcclRequest_t* request);
dfcclResult_t dfcclAllToAll(const void* sendbuff, void* recvbuff, size_t count, dfcclDataType_t type,
                            dfcclGroup_t group, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request);
dfcclResult_t dfcclGather(const void* sendbuff, void* recvbuff, size_t count, dfcclDataType_t type, int root,
                          dfcclGroup_t group, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request);
dfcclResult_t dfcclScatter(const void* sendbuff, void* recvbuff, size_t count, dfcclDataType_t type, int root,
                           dfcclGroup_t group, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request);
dfcclResult_t dfcclBarrier(dfcclGroup_t group, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request);

/* Point to point: the n-th send of a rank to a peer goes with the n-th receive of the peer from it that has the same
 * type, count and tag; any number of them may be outstanding, in any order on both sides, of different ones as many as
 * there is room for (dfcclOutOfMemory). To oneself works as well: with both
 * behind the same stream, or one behind none; the stream of whichever comes first must last until the other comes.
 * dfcclUnavailable: they are behind different ones. */
dfcclResult_t dfcclSend(const void* sendbuff, size_t count, dfcclDataType_t type, int peer, dfcclGroup_t group,
                        uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request);
dfcclResult_t dfcclRecv(void* recvbuff, size_t count, dfcclDataType_t type, int peer, dfcclGroup_t group, uint64_t tag,
                        dfcclStream_t stream, dfcclRequest_t* request);

/* Receives from whichever member sends first what has the same type, count and tag; *source, if not NULL, gets its
 * place in the group, and is -1 before; the sender, dfcclSend, needn't know. The workers of a world on CPUs look for
 * it, and who waits for, tests or polls a rank of this process; receives that name a sender come first. Neither it nor
 * what waits for it may be behind a stream. A member that is gone is passed over; dfcclAborted where all others are.
 * dfcclUnavailable: such messages are kernels in streams, see dfcclGroupRunInStreams; or the group's members are on
 * several machines. */
dfcclResult_t dfcclRecvAny(void* recvbuff, size_t count, dfcclDataType_t type, int* source, dfcclGroup_t group,
                           uint64_t tag, dfcclRequest_t* request);

/* Uneven forms. Each array has an entry a member, in elements; displacements may be NULL: one behind the other. Buffers
 * of send and receive must not overlap. Of an all-to-all, each rank knows its own counts only: what it sends to a
 * member must be what that one expects of it. So counts don't tell two of them apart: those of equal group, type and
 * tag are submitted in one order on all members; tags of their own leave them any. Of the others, all members pass the
 * same counts, of which only equal lists match, and displacements matter where the segments lie. */
dfcclResult_t dfcclAllToAllV(const void* sendbuff, const size_t* sendCounts, const size_t* sendDisplacements,
                             void* recvbuff, const size_t* recvCounts, const size_t* recvDisplacements,
                             dfcclDataType_t type, dfcclGroup_t group, uint64_t tag, dfcclStream_t stream,
                             dfcclRequest_t* request);
dfcclResult_t dfcclAllGatherV(const void* sendbuff, void* recvbuff, const size_t* counts, const size_t* displacements,
                              dfcclDataType_t type, dfcclGroup_t group, uint64_t tag, dfcclStream_t stream,
                              dfcclRequest_t* request);
dfcclResult_t dfcclReduceScatterV(const void* sendbuff, void* recvbuff, const size_t* counts, dfcclDataType_t type,
                                  dfcclRedOp_t op, dfcclGroup_t group, uint64_t tag, dfcclStream_t stream,
                                  dfcclRequest_t* request);
dfcclResult_t dfcclGatherV(const void* sendbuff, void* recvbuff, const size_t* counts, const size_t* displacements,
                           dfcclDataType_t type, int root, dfcclGroup_t group, uint64_t tag, dfcclStream_t stream,
                           dfcclRequest_t* request);
dfcclResult_t dfcclScatterV(const void* sendbuff, const size_t* counts, const size_t* displacements, void* recvbuff,
                            dfcclDataType_t type, int root, dfcclGroup_t group, uint64_t tag, dfcclStream_t stream,
                            dfcclRequest_t* request);

/* ---- Batches ------------------------------------------------------------------------------------------------- */

/* From here on, what this thread asks for with the functions above, on whatever groups of one world, of one rank or
 * several, is kept until dfcclBatchEnd; what is wrong with an operation's arguments is told at once. Buffers are the
 * runs' from the call on, and until they are over. An operation's own request, if it has a place for one, gets its
 * handle there. Batches may be nested: each is submitted when it ends. Splits and waits are none of a batch. */
dfcclResult_t dfcclBatchBegin(void);
/* Submits all that was kept since this thread's last dfcclBatchBegin, one behind the other: equal signatures of other
 * threads come before all of it or after. *request, if not NULL, ends with all of it; where that is of one rank, a
 * stream may wait for it too.
 * Any failure, of one operation's memory, group or place in the tables, say, is that of all, and nothing is queued;
 * only where a queue refuses some that others have come before (dfcclQueueFull, dfcclOutOfMemory), all the groups of
 * those are given up as by dfcclGroupAbort. dfcclInvalidArgument: no batch is open, or its groups are of different
 * worlds. */
dfcclResult_t dfcclBatchEnd(dfcclRequest_t* request);
/* Forgets what was kept since this thread's last dfcclBatchBegin, of which nothing is submitted. */
dfcclResult_t dfcclBatchCancel(void);

/* ---- Requests ------------------------------------------------------------------------------------------------ */

/* Waits until the run is over and its results are there (but see dfcclForItsStream), and gives the request back.
 * dfcclAborted: it was given up, and the request is given back too. dfcclTimeout after so many microseconds (0: never),
 * naming the ranks that are missing; the request stays. The caller works meanwhile, as in dfcclWait. Any thread; not
 * from a callback of the same rank. Here and below, dfcclClosed: it was given back already, or the rank that it isn't
 * over on was destroyed. */
dfcclResult_t dfcclWaitRun(dfcclRequest_t request, uint64_t timeoutMicros);
/* The same for all of them, none of which may be NULL; the caller works for all their ranks. dfcclAborted: one was
 * given up. dfcclTimeout: some are over, and none is given back. dfcclClosed: one of them was given back already, by
 * another thread or because it is listed twice; the others are given back. */
dfcclResult_t dfcclWaitRuns(const dfcclRequest_t* requests, int count, uint64_t timeoutMicros);
/* Waits for one of them, whichever is over first: *index says which, and it is given back. NULL entries are passed
 * over; *index is -1 where there is nothing else. */
dfcclResult_t dfcclWaitAnyRun(const dfcclRequest_t* requests, int count, uint64_t timeoutMicros, int* index);
/* Whether it is over, though its callback may not have returned yet; *isOver 1: dfcclSuccess or dfcclAborted is
 * returned as dfcclWaitRun would. The request stays. Does a bounded piece of work where it isn't. */
dfcclResult_t dfcclTestRun(dfcclRequest_t request, int* isOver);
/* Calls back once when the run is over, at once where it is already; see dfcclCallback_t. One callback a request.
 * Whoever waits for the request goes on when the callback has returned; within it the request is over, and may be given
 * back. */
dfcclResult_t dfcclNotifyRun(dfcclRequest_t request, dfcclCallback_t callback, void* callbackArgs);
/* Lets the stream do what it is given from now on only when the run is over; the caller doesn't wait. */
dfcclResult_t dfcclWaitRunOnStream(dfcclRequest_t request, dfcclStream_t stream);
/* Whether the run is part of a graph that its stream captured: then it is over for the host at once, every launch of
 * the graph carries it out, and streams of the same capture may wait for it with dfcclWaitRunOnStream. */
dfcclResult_t dfcclIsRunCaptured(dfcclRequest_t request, int* isCaptured);
/* How many runs of this rank's graphs have come to no result since it was opened: their collective was given up or
 * unregistered, or a rank was lost. A launch has no status of its own, so who launches asks here, when it is over. */
dfcclResult_t dfcclGetEndedCapturedRuns(uint64_t* count, dfcclRankCtx_t ctx);
/* Gives a request back; its run goes on, and its callback, if it has one, comes. NULL is no error. */
dfcclResult_t dfcclFreeRequest(dfcclRequest_t request);

#ifdef __cplusplus
}
#endif

#endif
