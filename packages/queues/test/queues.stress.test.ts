import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { completionQueueBytes, createCompletionQueue } from "../src/completion-queue.js";
import { completionQueueNames } from "../src/completion-roles.js";
import { createLeaderBroadcast, leaderBroadcastBytes } from "../src/leader-broadcast.js";
import { sharedWords } from "../src/shared-words.js";
import { createSubmissionRing, submissionRingBytes } from "../src/submission-ring.js";
import type { StressPlan } from "./support/stress-worker.js";

// DFCCL_STRESS=N makes it N times as long.
const factor = Math.max(1, Number(process.env.DFCCL_STRESS ?? 1));
const runsEach = 3000 * factor;
const [submitters, blocks] = [2, 2];

/** Runs one thread and gives the errors that it counted. */
function errorsOf(plan: StressPlan): Promise<number> {
  return new Promise((resolve, reject) => {
    const module = new URL("./support/stress-worker.ts", import.meta.url).href;
    const worker = new Worker(new URL("./support/typescript-worker.mjs", import.meta.url), { workerData: { ...plan, module } });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

describe("submitters, leader, blocks and poller in threads of their own", () => {
  it.each(completionQueueNames.map((completions, i) => ({ completions, readMode: i % 2 === 0 ? ("tail" as const) : ("words" as const) })))(
    "every run is completed once, through $completions, read by the $readMode, while counters wrap",
    async ({ completions, readMode }) => {
      const first = 2 ** 32 - 1000;
      const ring = new SharedArrayBuffer(submissionRingBytes(16));
      const broadcast = new SharedArrayBuffer(leaderBroadcastBytes(4, blocks));
      const queue = new SharedArrayBuffer(completionQueueBytes(completions, 8));
      createSubmissionRing(sharedWords(ring), 16, first);
      createLeaderBroadcast(sharedWords(broadcast), 4, blocks, first);
      createCompletionQueue(completions, sharedWords(queue), 8, first);
      const shared = { submitters, blocks, runsEach, readMode, completions, ring, broadcast, queue };
      const plans: StressPlan[] = [
        ...Array.from({ length: submitters }, (_, index) => ({ ...shared, role: "submitter" as const, index })),
        { ...shared, role: "leader", index: 0 },
        ...Array.from({ length: blocks }, (_, index) => ({ ...shared, role: "block" as const, index })),
        { ...shared, role: "poller", index: 0 },
      ];
      expect(await Promise.all(plans.map(errorsOf))).toEqual(plans.map(() => 0));
    },
  );
});
