/* Runs that begin behind a stream of CUDA's, and streams that wait for runs; part of dfccl.h. */
#ifndef DFCCL_STREAMS_H
#define DFCCL_STREAMS_H

#ifndef DFCCL_H
#error "Include dfccl/dfccl.h, which includes this."
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A cudaStream_t or CUstream is one. */
typedef struct CUstream_st* dfcclStream_t;

/* On a GPU: queues one run, as dfcclRun, and returns at once; the run begins when the stream, one of the rank's device
 * has done all that it was given before this call (which may be to wait for an event). The host takes no part in that.
 * Until then other ids go on, and later runs of this id wait behind it. An aborted run ends when the stream comes to
 * it. dfcclUnavailable on a CPU.
 *
 * Where the stream captures a graph, the run becomes part of it, and is carried out with every launch of the graph,
 * without the host and without a daemon: behind what the stream has captured before, and behind the graph's earlier
 * runs of the id. The other ranks capture it too: runs of graphs match each other only, those of the first graph with
 * the id that each rank has captured, then of the second one, and so on, however the graphs are launched. It has no
 * callback (callback NULL), and may not be a program of your own (dfcclUnavailable). Its buffers stay until the graph
 * is gone. When the id is given up or unregistered, or its world ends, launches of the graph go on without moving
 * anything. */
dfcclResult_t dfcclRunOnStream(const void* sendbuff, void* recvbuff, int collId, dfcclStream_t stream,
                               dfcclCallback_t callback, void* callbackArgs, dfcclRankCtx_t ctx);
/* Lets the stream do what it is given from now on only when all runs of the id that this rank has queued so far are
 * over: the results are then there. While the stream waits, the daemons of this process's ranks on its device stay; one
 * that is out is launched first (docs/gpus.md). Where streams can't wait, the caller does, which is said once. Which of
 * them were aborted, their callbacks tell. Like any wait, it must not be for what another rank's wait keeps from being
 * submitted. Where the stream captures a graph, what it is given from now on comes behind the graph's runs of the id so
 * far; dfcclInvalidArgument where there are none. */
dfcclResult_t dfcclWaitOnStream(int collId, dfcclStream_t stream, dfcclRankCtx_t ctx);

#ifdef __cplusplus
}
#endif

#endif
