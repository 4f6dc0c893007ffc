import type { DeadlockNode } from "@dfccl/core";
import { checkInteger, checkList, checkObject, checkText, InvalidArgumentError, readPlain } from "@dfccl/primitives";

/** A member of a deadlock's cycle, with the name of what its id stands for. */
export interface CycleMember extends Omit<DeadlockNode, "name"> {
  readonly tensor: string;
}

/** @param names - of the collectives, by id. */
export function nameCycle(cycle: readonly Omit<DeadlockNode, "name">[], names: readonly string[]): CycleMember[] {
  return cycle.map(({ rank, id, run, state }) => ({ rank, id, run, state, tensor: names[id] ?? `collective ${id}` }));
}

/**
 * A line for each member: who holds what, and what that waits for. The last one waits for the first.
 * @throws {InvalidArgumentError}
 */
export function describeCycle(given: readonly CycleMember[]): string[] {
  const cycle = readCycle(given);
  // Begun where something executes, a line and the next one read as one sentence.
  const first = cycle.findIndex(({ state }) => state === "executing");
  const ordered = first < 0 ? cycle : [...cycle.slice(first), ...cycle.slice(0, first)];
  return ordered.map((member, index) => describeMember(member, ordered[(index + 1) % ordered.length] ?? member));
}

const states: readonly CycleMember["state"][] = ["executing", "queued", "not submitted"];

function readCycle(given: readonly CycleMember[]): readonly CycleMember[] {
  checkList("cycle", given, "that of runControl()'s result");
  const cycle = readPlain("cycle", given);
  cycle.forEach((member, i) => {
    checkObject(`cycle[${i}]`, member, "an object with rank, tensor and state");
    checkInteger(`cycle[${i}].rank`, member.rank, 0);
    checkText(`cycle[${i}].tensor`, member.tensor, "a name");
    if (!states.includes(member.state)) throw new InvalidArgumentError(`cycle[${i}].state`, member.state, `one of ${states.join(", ")}`);
  });
  return cycle;
}

function describeMember(member: CycleMember, next: CycleMember): string {
  switch (member.state) {
    case "executing":
      return `rank ${member.rank} executes ${member.tensor}, and waits for rank ${next.rank},`;
    case "queued":
      return `where it is queued behind ${next.tensor};`;
    case "not submitted":
      return `where it comes after a synchronization that waits for ${next.tensor};`;
  }
}
