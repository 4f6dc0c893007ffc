/* Counts that runs bring with them: one registration for buffers of every size; part of dfccl.h.
 *
 *   dfcclRegisterAllReduce(DFCCL_ANY_COUNT, dfcclFloat32, dfcclSum, 7, dfcclAllRanks(), 0, ctx);
 *   dfcclRunCount(send, recv, 1000, 7, NULL, NULL, ctx);
 *   dfcclRunCount(send, recv, 3, 7, NULL, NULL, ctx);
 *
 * Runs of an id are matched in the order of their submission, as ever, and the n-th must have the same count on all
 * ranks. Where it hasn't, it moves nothing: it ends as dfcclCountMismatch on every rank, and all others go on.
 *
 * On CPUs, where all ranks of the collective are on one machine. Elsewhere registration returns dfcclUnavailable. */
#ifndef DFCCL_COUNTS_H
#define DFCCL_COUNTS_H

#ifndef DFCCL_H
#error "Include dfccl/dfccl.h, which includes this."
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* isOn 1: what this rank registers from now on, but barriers, takes a count with each run, which may be any up to the
 * one that it is registered with; 0, as at first: it doesn't. All ranks of a collective must agree on it. The
 * collective must not be custom, and its program not exchange flags with the data: dfcclInvalidArgument,
 * dfcclInvalidProgram. */
dfcclResult_t dfcclSetCountPerRun(int isOn, dfcclRankCtx_t ctx);
/* The count of such a registration where runs may have any. dfcclInvalidArgument for a program of one's own that needs
 * scratch memory, which is made for the largest. */
#define DFCCL_ANY_COUNT ((size_t)-1)
/* As dfcclRun, with `count` elements in a rank's smaller buffer; the others have as many more of it as registration
 * says. 0 is a run that everybody has to make, and moves nothing. Of such an id, dfcclRun makes a run of the count that
 * it was registered with.
 * dfcclInvalidArgument: the id was registered with one count for all runs, or with a smaller one. */
dfcclResult_t dfcclRunCount(const void* sendbuff, void* recvbuff, size_t count, int collId, dfcclCallback_t callback,
                            void* callbackArgs, dfcclRankCtx_t ctx);
/* The count of each rank, in the order of devSet, in the last run of the id that ended as dfcclCountMismatch. *count:
 * how many ranks these are, 0 if there was no such run; counts[] gets as many as capacity allows. */
dfcclResult_t dfcclGetMismatchedCounts(size_t* counts, int capacity, int* count, int collId, dfcclRankCtx_t ctx);

#ifdef __cplusplus
}
#endif

#endif
