import type { Workload } from "../workloads/workload.js";
import type { Member, Setting } from "./setting.js";
import type { Action } from "./submission-order.js";

export interface IterationHooks {
  /** After each run that completed, with the time since its submission. */
  readonly onComplete?: (milliseconds: number) => void;
  /** After each device synchronization. */
  readonly onSynchronize?: () => void;
  readonly signal?: AbortSignal;
}

/** What each member's runs have come to: 1 at `[member][tensor]` once the result is there. */
export type Completions = readonly Uint8Array[];

// Submissions between two turns of the event loop: the ranks' submissions interleave at this grain.
const burst = 16;

/**
 * The actions of all this process's ranks in one iteration, side by side. Resolves when everything completed, or early once `signal` is
 * aborted; then runs are still in flight, and the world has to be closed before its buffers are looked at.
 */
export async function runIteration(
  setting: Setting,
  iteration: number,
  actions: readonly (readonly Action[])[],
  hooks: IterationHooks = {},
): Promise<Completions> {
  const completions = setting.members.map(({ outputs }) => new Uint8Array(outputs.length));
  const ranks = Promise.all(
    setting.members.map((member, i) =>
      runActions(setting, member, actions[member.rank.number] ?? [], iteration, hooks, completions[i] ?? new Uint8Array(0)),
    ),
  );
  await (hooks.signal ? untilAborted(ranks, hooks.signal) : ranks);
  return completions;
}

async function runActions(
  { operands }: Setting,
  { rank, collectives }: Member,
  actions: readonly Action[],
  iteration: number,
  { onComplete, onSynchronize, signal }: IterationHooks,
  completions: Uint8Array,
): Promise<void> {
  const batches: PromiseLike<void>[] = [];
  for (const action of actions) {
    if (signal?.aborted) return;
    if (action.kind === "synchronize") {
      await rank.synchronize();
      onSynchronize?.();
      continue;
    }
    const { tensor } = action;
    const collective = collectives[tensor];
    if (!collective) continue;
    const submittedAt = performance.now();
    const [input, output] = operands(rank.number, tensor, iteration);
    batches.push(
      rank.submit([[collective, input, output]], {
        onComplete: ({ status }) => {
          if (status !== "completed") return;
          completions[tensor] = 1;
          onComplete?.(performance.now() - submittedAt);
        },
      }),
    );
    if (batches.length % burst === 0) await nextTurn();
  }
  await Promise.all(batches);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let onAbort = (): void => undefined;
  const aborted = new Promise<void>((resolve) => {
    onAbort = resolve;
  });
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Completed runs whose result differs from what it must be in some bit. */
export function countWrong({ data, members }: Setting, { tensors }: Workload, iteration: number, completions: Completions): number {
  let wrong = 0;
  members.forEach(({ outputs }, rank) => {
    tensors.forEach((_, tensor) => {
      const output = outputs[tensor];
      const isDone = completions[rank]?.[tensor] === 1;
      if (isDone && output && data.wrongElements(output, tensor, iteration) > 0) wrong += 1;
    });
  });
  return wrong;
}
