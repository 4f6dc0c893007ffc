import type { ErrorFacts } from "@dfccl/primitives";
import { EngineError } from "../errors.js";
import { typedError } from "../native-addon/native-error.js";
import { inspectWorlds } from "./inspect-worlds.js";

/** What this process knows of the meeting that failed. */
export interface Meeting extends ErrorFacts {
  readonly job: string;
  readonly rank: number;
  readonly worldSize: number;
  readonly timeoutMs: number;
}

/**
 * Types what the addon says of a meeting that failed. Its facts are the meeting's; in a timeout `missing` lists the absent ranks,
 * and where two processes claim one rank, `claimed` is that rank.
 */
export function joinFailure(error: unknown, meeting: Meeting): unknown {
  const typed = typedError(error, ({ missing, claimed, ...told }) => ({
    ...meeting,
    ...told,
    ...(missing === undefined ? {} : { missing: missing.split(",").map(Number) }),
    ...(claimed === undefined ? {} : { claimed: Number(claimed) }),
  }));
  return typed instanceof EngineError && typed.code === "TIMEOUT" ? (claimedBefore(typed, meeting) ?? typed) : typed;
}

/** Who comes when the job has met without it waits in vain: the others are all there, and one of them is this rank already. */
function claimedBefore(cause: EngineError, meeting: Meeting): EngineError | undefined {
  const { job, rank } = meeting;
  const holder = worldsOf(job)
    .flatMap(({ ranks }) => ranks)
    .find((other) => other.rank === rank && other.presence === "joined");
  if (holder === undefined) return undefined;
  return new EngineError(
    "IN_USE",
    `Process ${holder.pid} is rank ${rank} of job "${job}" already, whose ranks have all come; this process waited in vain.`,
    "Give every process a rank of its own, and each job a name of its own (DFCCL_JOB).",
    { ...meeting, claimed: rank, holder: holder.pid },
    { cause },
  );
}

function worldsOf(job: string) {
  try {
    return inspectWorlds().filter((world) => world.job === job);
  } catch {
    return []; // It would only have explained the timeout.
  }
}
