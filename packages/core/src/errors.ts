import { DfcclError, type ErrorFacts } from "@dfccl/primitives";
import type { DeadlockReport, LostRank, MemberProgress, OtherCall } from "./native-addon/native-reports.js";

/** The engine refused a call. `code` says why; see `native/include/dfccl/status.h`. */
export class EngineError extends DfcclError {
  override readonly code: string;

  constructor(code: string, what: string, remedy: string, facts: ErrorFacts, options: { cause?: unknown } = {}) {
    super(what, { facts, remedy, ...options });
    this.code = code;
  }
}

/** Two ranks registered one id differently. `facts.field`, `facts.mine` and `facts.theirs` say how. */
export class RegistrationMismatchError extends EngineError {}

/** A world, rank or collective is used after it was closed or unregistered. */
export class ClosedError extends DfcclError {
  override readonly code = "CLOSED";

  constructor(what: string) {
    super(`${what} has been closed.`, { facts: { what }, remedy: "Open or register it again before using it." });
  }
}

/** A buffer doesn't fit the collective. `facts.buffer` is "send" or "recv". */
export class BufferError extends DfcclError {
  override readonly code = "BUFFER";

  constructor(collective: string, buffer: "send" | "recv", problem: string, remedy: string, facts: ErrorFacts = {}) {
    super(`${collective}: the ${buffer} buffer ${problem}.`, { facts: { collective, buffer, ...facts }, remedy });
  }
}

/** Some rank aborted the collective while this run was in flight, or before it was submitted. */
export class CollectiveAbortedError extends DfcclError {
  override readonly code = "ABORTED";

  constructor(collective: string, options: { cause?: unknown; remedy?: string | undefined } = {}) {
    super(`${collective} was aborted.`, () => ({
      facts: { collective },
      cause: options.cause,
      remedy: options.remedy ?? "Unregister it on every rank and register it again; its buffers may be freed once quarantine() resolves.",
    }));
  }
}

/**
 * Ranks brought different counts to one run, which moved nothing; runs before and behind it go on. `facts.counts` lists rank and
 * count of each.
 */
export class CountMismatchError extends DfcclError {
  override readonly code = "COUNT_MISMATCH";

  constructor(collective: string, counts: readonly { readonly rank: number; readonly count: number }[]) {
    super(
      () =>
        `${collective}: the ranks brought different counts to a run: ${counts.map(({ rank, count }) => `rank ${rank} ${count}`).join(", ")}.`,
      {
        facts: { collective, counts },
        remedy:
          "Bring the same count to the n-th run of an id on all ranks, or call a group's collectives, which match runs by their count.",
      },
    );
  }
}

/**
 * A rank of the collective is gone, so this run can't complete. `facts.lost` names it, and what became of it: "died" (its
 * process ended), "left" (it closed its world) or "mute" (no sign of life for too long).
 */
export class RankLostError extends DfcclError {
  override readonly code = "RANK_LOST";

  constructor(collective: string, lost: readonly LostRank[]) {
    super(() => `${collective} can't complete: ${lost.map(({ rank, presence }) => `rank ${rank} ${became[presence]}`).join(", ")}.`, {
      facts: { collective, lost },
      remedy: "See what ended that process; the others may go on: register again with ranks: await rank.agreeOnSurvivors().",
    });
  }
}

const became: Readonly<Record<LostRank["presence"], string>> = {
  died: "died",
  left: "has left",
  mute: "gives no sign of life",
};

/**
 * Why a run of the collective was given up.
 * @param mismatch - how a rank on another machine registered it differently; "" if none did.
 */
export function givenUp(
  { name, ranks, remedy }: { readonly name: string; readonly ranks: readonly number[]; readonly remedy?: string | undefined },
  lost: readonly LostRank[],
  mismatch = "",
): CollectiveAbortedError | RankLostError {
  if (mismatch !== "") {
    const advice = "Register the id with the same arguments on every rank, or give this collective an id of its own.";
    return new CollectiveAbortedError(name, { cause: new RegistrationMismatchError("REGISTRATION_MISMATCH", mismatch, advice, {}) });
  }
  const members = lost.filter(({ rank }) => ranks.includes(rank));
  return members.length > 0 ? new RankLostError(name, members) : new CollectiveAbortedError(name, { remedy });
}

/**
 * A run did not complete in its time. `facts.missing` names ranks that have not submitted it (or not registered it); where
 * that is empty, all ranks have come, and the run is being executed or preempted because the order differs. `facts.flightRecord`
 * is the file that this rank's record was written to, where DFCCL_FLIGHT_RECORD asks for one and this is the first timeout.
 * `facts.others` are the missing ranks of this machine that have called something else with the same tag: `{ rank, difference }[]`.
 */
export class CollectiveTimeoutError extends DfcclError {
  override readonly code = "TIMEOUT";

  constructor(
    collective: string,
    timeoutMs: number,
    run: number,
    members: readonly MemberProgress[],
    flightRecord?: string,
    others: readonly OtherCall[] = [],
  ) {
    super(
      () => `${collective} waited ${(timeoutMs / 1000).toFixed(timeoutMs < 1000 ? 3 : 1)} s: ${reason(absent(members, run), others)}.`,
      () => {
        const { unregistered, missing } = absent(members, run);
        return {
          facts: {
            ...{ collective, timeoutMs, run, unregistered, missing, members },
            ...(flightRecord === undefined ? {} : { flightRecord }),
            ...(others.length === 0 ? {} : { others }),
          },
          remedy:
            unregistered.length + missing.length > 0
              ? "See why those ranks didn't come; the run stays in flight and completes when they do, or abort() it."
              : "The run stays in flight and will complete; allow more time, or look at counters() for what runs before it.",
        };
      },
    );
  }
}

interface Absent {
  readonly unregistered: readonly number[];
  readonly missing: readonly number[];
}

function absent(members: readonly MemberProgress[], run: number): Absent {
  return {
    unregistered: members.filter(({ registered }) => !registered).map(({ rank }) => rank),
    missing: members.filter(({ registered, submitted }) => registered && submitted <= run).map(({ rank }) => rank),
  };
}

function reason({ unregistered, missing }: Absent, others: readonly OtherCall[]): string {
  const instead =
    others.length === 0 ? "" : `, but ${others.map(({ rank, difference }) => `rank ${rank} one of ${difference}`).join("; ")}`;
  const parts = [
    ...(unregistered.length > 0 ? [`${ranks(unregistered)} never registered it`] : []),
    ...(missing.length > 0 ? [`${ranks(missing)} never submitted it${instead}`] : []),
  ];
  return parts.length > 0 ? parts.join("; ") : "every rank has submitted it, and it takes its turn among other collectives";
}

function ranks(list: readonly number[]): string {
  return list.length === 1 ? `rank ${list[0]}` : `ranks ${list.join(", ")}`;
}

/** In-order mode: nothing can ever go on. `facts.cycle` says who waits for whom. */
export class DeadlockError extends DfcclError {
  override readonly code = "DEADLOCK";

  constructor(readonly report: DeadlockReport) {
    super(
      () => report.text,
      () => ({ facts: { cycle: report.cycle }, remedy: "Use a preemptive policy (the default), or one order on all ranks." }),
    );
  }
}
