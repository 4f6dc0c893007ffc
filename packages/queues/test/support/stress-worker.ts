import { parentPort, workerData } from "node:worker_threads";
import { CompletionStatus } from "../../src/completion.js";
import { attachCompletionQueue } from "../../src/completion-queue.js";
import type { CompletionQueueName } from "../../src/completion-roles.js";
import { attachLeaderBroadcast, BroadcastLeader, BroadcastReader } from "../../src/leader-broadcast.js";
import { sharedWords } from "../../src/shared-words.js";
import { type ReadMode, SubmissionConsumer } from "../../src/submission-consumer.js";
import { SubmissionProducer } from "../../src/submission-producer.js";
import { attachSubmissionRing } from "../../src/submission-ring.js";
import { sampleSqe, sqeProblem } from "./entries.js";

/** What every thread of the stress test is told. */
export interface StressPlan {
  readonly role: "submitter" | "leader" | "block" | "poller";
  readonly index: number;
  readonly submitters: number;
  readonly blocks: number;
  readonly runsEach: number;
  readonly readMode: ReadMode;
  readonly completions: CompletionQueueName;
  readonly ring: SharedArrayBuffer;
  readonly broadcast: SharedArrayBuffer;
  readonly queue: SharedArrayBuffer;
}

const plan = workerData as StressPlan;
const never = new Int32Array(new SharedArrayBuffer(4));
const total = plan.submitters * plan.runsEach;

/** Tries until it succeeds, and lets other threads have the core meanwhile. */
function until<T>(attempt: () => T | undefined | false): T {
  for (let tries = 1; ; tries++) {
    const result = attempt();
    if (result !== undefined && result !== false) return result;
    if (tries % 16 === 0) Atomics.wait(never, 0, 0, 0.01);
  }
}

function submit(): number {
  const producer = new SubmissionProducer(attachSubmissionRing(sharedWords(plan.ring)), plan.index + 1);
  const claimer = attachCompletionQueue(plan.completions, sharedWords(plan.queue)).claimer();
  for (let i = 0; i < plan.runsEach; i++) {
    const sqe = sampleSqe(plan.index * plan.runsEach + i);
    until(() => {
      if (!producer.tryReserve(1).ok) return false;
      const slot = claimer.tryClaim();
      if (slot === undefined) {
        producer.publish(0);
        return false;
      }
      // The slot travels in the scalar's word, so that the rest of the entry can still be checked as a whole.
      producer.write(0, { ...sqe, count: slot });
      producer.publish(1);
      return true;
    });
  }
  return 0;
}

function lead(): number {
  const consumer = new SubmissionConsumer(attachSubmissionRing(sharedWords(plan.ring)), plan.readMode);
  const leader = new BroadcastLeader(attachLeaderBroadcast(sharedWords(plan.broadcast)));
  for (let n = 0; n < total; n++) {
    until(() => leader.hasRoom());
    leader.tryPublish(until(() => consumer.take()));
  }
  return 0;
}

function runBlock(): number {
  const reader = new BroadcastReader(attachLeaderBroadcast(sharedWords(plan.broadcast)), plan.index);
  const producer = attachCompletionQueue(plan.completions, sharedWords(plan.queue)).producer();
  let errors = 0;
  for (let n = 0; n < total; n++) {
    const sqe = until(() => reader.take());
    if (sqeProblem({ ...sqe, count: sampleSqe(sqe.run).count }) !== undefined) errors++;
    if (n % plan.blocks !== plan.index) continue;
    until(() => producer.post(sqe.count, { id: sqe.run, status: CompletionStatus.completed, run: sqe.run % 65536 }).ok);
  }
  return errors;
}

function poll(): number {
  const poller = attachCompletionQueue(plan.completions, sharedWords(plan.queue)).poller();
  const seen = new Uint8Array(total);
  let errors = 0;
  for (let n = 0; n < total; n++) {
    const { id, status, run } = until(() => poller.poll());
    if (id >= total || seen[id] !== 0 || status !== CompletionStatus.completed || run !== id % 65536) errors++;
    seen[id] = 1;
  }
  return errors + (poller.poll() === undefined ? 0 : 1);
}

const roles = { submitter: submit, leader: lead, block: runBlock, poller: poll };
parentPort?.postMessage(roles[plan.role]());
