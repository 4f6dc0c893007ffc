// Nanoseconds an operation of every queue, on one thread: what the algorithms cost without contention. Compare the rows of
// one run only.   npx pnpm --filter @dfccl/queues bench
import { type Completion, CompletionStatus } from "../src/completion.js";
import { createOwnedSlots, ownedSlotsBytes } from "../src/completion-owned-slots.js";
import { completionQueueBytes, createCompletionQueue } from "../src/completion-queue.js";
import { completionQueueNames } from "../src/completion-roles.js";
import { FlipFlop, flipFlopBytes } from "../src/flip-flop.js";
import { BroadcastLeader, BroadcastReader, createLeaderBroadcast, leaderBroadcastBytes } from "../src/leader-broadcast.js";
import { type SharedWords, sharedWords } from "../src/shared-words.js";
import { createSpmcSubmission, SpmcConsumer, SpmcProducer, spmcSubmissionBytes } from "../src/spmc-submission.js";
import type { Sqe } from "../src/sqe.js";
import { SubmissionConsumer } from "../src/submission-consumer.js";
import { SubmissionProducer } from "../src/submission-producer.js";
import { createSubmissionRing, submissionRingBytes } from "../src/submission-ring.js";
import { WaveCaller, WaveWorker, waveBytes } from "../src/wave.js";
import { PaddedWaveCaller, PaddedWaveWorker, paddedWaveBytes } from "../src/wave-padded.js";

const capacity = 1024;

function memory(bytes: number): SharedWords {
  return sharedWords(new SharedArrayBuffer(bytes));
}

/** Runs rounds of `operations` operations; `between` is not timed. Prints the median round. */
function measure(name: string, operations: number, timed: () => void, between: () => void = () => undefined): void {
  const rounds: number[] = [];
  for (let round = 0; round < 1200; round++) {
    const start = process.hrtime.bigint();
    timed();
    rounds.push(Number(process.hrtime.bigint() - start) / operations);
    between();
  }
  const steady = rounds.slice(400).sort((a, b) => a - b);
  const median = steady[steady.length >> 1] ?? Number.NaN;
  console.log(`${name.padEnd(56)} ${median.toFixed(1).padStart(8)} ns   ${(1000 / median).toFixed(1).padStart(6)} M/s`);
}

const entries: readonly Sqe[] = Array.from({ length: 64 }, (_, i) => ({
  id: i,
  flags: 0,
  run: i + 1,
  completionSlot: i,
  sendAddress: 0x7fff00000000 + i * 4096,
  recvAddress: 0x7ffe00000000 + i * 4096,
  count: 0,
  sendWindow: 0,
  recvWindow: 0,
}));
const one = entries.slice(0, 1);
const completions: readonly Completion[] = entries.map(({ id }) => ({ id, status: CompletionStatus.completed, run: 3 }));

for (const batch of [one, entries]) {
  const ring = createSubmissionRing(memory(submissionRingBytes(capacity)), capacity);
  const producer = new SubmissionProducer(ring, 1);
  const leader = new SubmissionConsumer(ring);
  const fill = () => {
    for (let i = 0; i < capacity; i += batch.length) producer.submit(batch);
  };
  const drain = () => {
    while (leader.peek() !== undefined) leader.pop();
    leader.release();
  };
  measure(`submission ring: submit, ${batch.length} at a time`, capacity, fill, drain);
  fill();
  measure("submission ring: read by the tail", capacity, drain, fill);
}

// The control of the SharedWords seam: the same stores on a bare typed array.
{
  const words = new Int32Array(new SharedArrayBuffer(submissionRingBytes(capacity)));
  let tail = 0;
  measure("submission ring by hand, on bare Atomics, 64 at a time", capacity, () => {
    for (let i = 0; i < capacity; i += entries.length) {
      Atomics.compareExchange(words, 32, 0, 1);
      for (const sqe of entries) {
        const at = 80 + (tail & (capacity - 1)) * 16;
        const sequence = (tail + 1) << 16;
        words[at] = sqe.id | 0;
        words[at + 2] = sqe.run | 0;
        words[at + 4] = sqe.completionSlot | 0;
        words[at + 6] = sqe.sendAddress | 0;
        words[at + 8] = sqe.recvAddress | 0;
        words[at + 10] = tail | 0;
        words[at + 12] = sqe.count | 0;
        words[at + 14] = 0;
        Atomics.store(words, at + 1, sequence | (sqe.flags & 0xffff));
        words[at + 3] = sequence | (Math.floor(sqe.run / 2 ** 32) & 0xffff);
        words[at + 5] = sequence;
        words[at + 7] = sequence | (Math.floor(sqe.sendAddress / 2 ** 32) & 0xffff);
        words[at + 9] = sequence | (Math.floor(sqe.recvAddress / 2 ** 32) & 0xffff);
        words[at + 11] = sequence | (Math.floor(tail / 2 ** 32) & 0xffff);
        words[at + 13] = sequence | (Math.floor(sqe.count / 2 ** 32) & 0xffff);
        Atomics.store(words, at + 15, sequence);
        tail++;
      }
      Atomics.store(words, 0, tail | 0);
      Atomics.store(words, 32, 0);
    }
  });
}

{
  const ring = createLeaderBroadcast(memory(leaderBroadcastBytes(capacity, 1)), capacity, 1);
  const leader = new BroadcastLeader(ring);
  const reader = new BroadcastReader(ring, 0);
  const sqe = one[0];
  if (sqe === undefined) throw new Error("no entry");
  measure("leader broadcast: publish and take, 1 block", capacity, () => {
    for (let i = 0; i < capacity; i++) {
      leader.tryPublish(sqe);
      reader.take();
    }
  });
  const spmc = createSpmcSubmission(memory(spmcSubmissionBytes(capacity)), capacity, 1);
  const producer = new SpmcProducer(spmc);
  const consumer = new SpmcConsumer(spmc);
  measure("SPMC submission: submit and take, 1 block", capacity, () => {
    for (let i = 0; i < capacity; i++) {
      producer.trySubmit(sqe);
      consumer.take();
    }
  });
}

for (const name of completionQueueNames) {
  const queue = createCompletionQueue(name, memory(completionQueueBytes(name, 64)), 64);
  const [claimer, producer, poller] = [queue.claimer(), queue.producer(), queue.poller()];
  measure(`${name}: claim, post and poll, 64 in flight`, capacity, () => {
    for (let i = 0; i < capacity; i += 64) {
      for (const completion of completions) producer.post(claimer.tryClaim() ?? 0, completion);
      for (let k = 0; k < 64; k++) poller.poll();
    }
  });
}

{
  const queue = createOwnedSlots(memory(ownedSlotsBytes(capacity)), capacity);
  const [claimer, producer, poller] = [queue.claimer(), queue.producer(), queue.poller()];
  const fill = () => {
    for (let i = 0; i < capacity; i += completions.length) {
      for (const completion of completions) producer.post(claimer.tryClaim() ?? 0, completion);
    }
  };
  fill();
  measure("owned-slots: drain and free", capacity, () => poller.drain((slot) => poller.free(slot)), fill);
}

{
  const flipFlop = new FlipFlop(memory(flipFlopBytes));
  measure("flip-flop: add and get", capacity, () => {
    for (let i = 0; i < capacity; i++) {
      flipFlop.tryAdd(0x7fff00000000);
      flipFlop.tryGet();
    }
  });
  const words = memory(waveBytes);
  const [caller, worker] = [new WaveCaller(words, 1), new WaveWorker(words)];
  measure("wave: a round, 1 worker", capacity, () => {
    for (let i = 0; i < capacity; i++) {
      caller.start();
      worker.isStarted();
      worker.finish();
      caller.isCollected();
    }
  });
  const padded = memory(paddedWaveBytes(1));
  const [paddedCaller, paddedWorker] = [new PaddedWaveCaller(padded, 1), new PaddedWaveWorker(padded, 0)];
  measure("padded wave: a round, 1 worker", capacity, () => {
    for (let i = 0; i < capacity; i++) {
      paddedCaller.start();
      paddedWorker.isStarted();
      paddedWorker.finish();
      paddedCaller.isCollected();
    }
  });
}
