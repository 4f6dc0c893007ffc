#pragma once
// Programs that end, whatever order the ranks draw.
//
// A program is cut into phases. In phase k every rank first submits all its runs of the phase, in an order of its own
// (S), then streams and the host wait, for runs of phases up to k only (W). Between these steps, in S and W alike, it
// does anything that CUDA may make wait until the device is idle. Why this can't deadlock by itself:
//
// (1) Take the worst that CUDA may do to one rank: nothing that it has enqueued begins before all that it has enqueued
//     earlier, on whatever stream, is over (one hardware queue; streams that synchronize with the legacy one); calls
//     of the host return only when all that was enqueued earlier is over (cudaFree, module loads, full launch queues).
// (2) Assume that all runs of phases below k complete. Then each rank comes through its S of phase k: what is enqueued
//     before or in it waits, at most, for runs of phases below k, and so does every call of the host. In S nothing
//     waits for a run of phase k: dfcclWaitFor and waits of streams are in W, and dfcclPoll doesn't wait.
// (3) So every run of phase k is submitted by all its ranks, and every stream comes to its run, as before it there are
//     only waits for runs of phases below k. A run whose ranks have all come to it completes: this is what the library
//     promises, in whatever order they came. The runs of an id in one phase are interchangeable, so that all ranks
//     submit them in the same order, number by number.
// (4) By induction all phases complete, and then all that waits for them.
//
// No rank needs another's progress but by runs, so processes need nothing else. Several ranks in one process on one
// device share a context: while a call of one of them holds the driver's lock until the device is idle, the others
// can't launch, so they can't submit, if the library or the program has to launch for it. That is CUDA's, not the
// library's: the same with two threads of NCCL. Therefore such ranks meet behind each S: then everything that any
// stream of the device waits for has been submitted by all ranks of the process, and (1) may be read for all of them as
// one.
//
// A graph, captured before the first phase, is launched behind S, at most one a phase, and behind its launches before.
// That is a wait for runs of phase k, of the graph's own. First its stream waits for all that its rank has submitted:
// no daemon stays for a launch that waits, and while one does, a call of the host's may keep the daemon out that a peer
// needs on its way to the launch. Ranks that share a context have no graphs: one's launch, which only another's
// completes, may be in front of that one's in the same hardware queue.
//
// An id that is aborted changes nothing: its runs complete, too, and nobody looks at their results. What follows the
// last phase (a wait of the host, unregistering) waits for no rank that waits for it. Only where ids are aborted do all
// ranks meet, by shared memory: at the beginning, since the API doesn't say what it is to abort an id that another rank
// has yet to register, and at the end, since quarantine ends when all have given the id up.
//
// An id is registered anew only after runs of it: a registration that a rank gives up before the others have come is
// over for all of them, so their first would go with its second.
//
// This forbids what NCCL's users can't do either: a stream that waits for A before B is submitted behind it, while
// another rank has it the other way round. Chains (submit, wait, submit behind it) are phases of one run.
#include "stream_programs/options.hpp"
#include "stream_programs/program.hpp"

namespace dfccl::gpu::programs {

struct Shape {
  uint32_t ranks;
  bool meets;  // ranks that share a process and a device
  uint32_t mostStreams;
  size_t mostBytes;
  Features features = Features::all();
};

/// The same program for the same arguments, in every process.
Program generate(uint64_t seed, const Shape& shape);

}  // namespace dfccl::gpu::programs
