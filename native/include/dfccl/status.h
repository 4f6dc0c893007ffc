/* Status codes of the C API and of the addon; packages/core (native-error.ts) maps them to typed errors. */
#ifndef DFCCL_STATUS_H
#define DFCCL_STATUS_H

/* A C caller may pass any int for an enumerator; C++ must not assume that it is one of the names. */
#ifdef __cplusplus
#define DFCCL_ANY_INT : int
#else
#define DFCCL_ANY_INT
#endif

typedef enum DFCCL_ANY_INT {
  dfcclSuccess = 0,
  dfcclInvalidArgument = 1,      /* a value outside what is allowed */
  dfcclUnknownCollective = 2,    /* no such id on this rank */
  dfcclAlreadyRegistered = 3,    /* this rank has registered the id already */
  dfcclRegistrationMismatch = 4, /* another rank registered the id differently */
  dfcclInvalidProgram = 5,       /* the program's bytes are malformed, or it doesn't fit the collective */
  dfcclOutOfMemory = 6,          /* the arena, or a table, is full */
  dfcclQueueFull = 7,            /* in order: no slot, or too many streams: try again after a completion */
  dfcclInUse = 8,                /* runs are in flight */
  dfcclClosed = 9,               /* the world or rank has been closed */
  dfcclAborted = 10,             /* some rank aborted the id */
  dfcclTimeout = 11,
  dfcclSystemError = 12,  /* the operating system refused: a thread, memory */
  dfcclDeadlock = 13,     /* in-order mode: the watchdog found a cycle */
  dfcclUnavailable = 14,  /* the backend can't work here: no driver, no device, a build without it */
  dfcclCountMismatch = 15 /* ranks gave a run different counts: nothing was moved */
} dfcclResult_t;

#endif
