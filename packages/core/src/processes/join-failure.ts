import type { ErrorFacts } from "@dfccl/primitives";
import { typedError } from "../native-addon/native-error.js";

/** What this process knows of the meeting that failed. */
export interface Meeting extends ErrorFacts {
  readonly job: string;
  readonly rank: number;
  readonly worldSize: number;
  readonly timeoutMs: number;
}

/** Types what the addon says of a meeting that failed; its facts are the meeting's, and in a timeout `missing` lists the absent ranks. */
export function joinFailure(error: unknown, meeting: Meeting): unknown {
  return typedError(error, ({ missing, ...told }) => ({
    ...meeting,
    ...told,
    ...(missing === undefined ? {} : { missing: missing.split(",").map(Number) }),
  }));
}
