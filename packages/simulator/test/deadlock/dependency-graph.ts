import type { Component } from "../../src/deadlock/component.js";
import type { DeadlockConfig } from "../../src/deadlock/config.js";
import { SYNCHRONIZATION } from "../../src/deadlock/sequences.js";

type State = "invoked" | "executing" | "successful";

/**
 * The paper's definition word by word, to hold the simulators against: states of parts, and a search for cycles in the
 * dependency graph after every event. GPUs take their events in sweeps; what a suspended GPU invokes is invoked only.
 * @see DFCCL, section 2.4.1
 */
export function deadlocksByDefinition(
  component: Component,
  model: DeadlockConfig["model"],
  sequences: readonly (readonly number[])[],
): boolean {
  const parts = sequences.map(() => new Map<number, State>()); // in order of invocation
  const backlog: number[][] = sequences.map(() => []); // behind the synchronization that suspends the GPU
  const longest = Math.max(...sequences.map((sequence) => sequence.length));

  const execute = (gpu: number, collective: number): void => {
    parts[gpu]?.set(collective, "executing");
    const members = component.members[component.groupOf[collective] ?? 0] ?? [];
    if (![...members].every((member) => parts[member]?.get(collective) === "executing")) return;
    for (const member of members) parts[member]?.set(collective, "successful");
    for (const member of members) goOn(member);
  };
  const goOn = (gpu: number): void => {
    const states = parts[gpu] ?? new Map<number, State>();
    if (model === "single-queue") {
      for (const [collective, state] of states) {
        if (state === "successful") continue;
        if (state === "invoked") execute(gpu, collective);
        return;
      }
      return;
    }
    const waiting = backlog[gpu] ?? [];
    while (waiting.length > 0) {
      const [action = SYNCHRONIZATION] = waiting;
      if (action === SYNCHRONIZATION && [...states.values()].includes("executing")) return;
      waiting.shift();
      if (action !== SYNCHRONIZATION) execute(gpu, action);
    }
  };
  const hasCycle = (): boolean => {
    const edges = (gpu: number, collective: number): [number, number][] => {
      const state = parts[gpu]?.get(collective);
      if (state === "executing") {
        return sequences.flatMap((_, other): [number, number][] =>
          parts[other]?.get(collective) === "invoked" ? [[other, collective]] : [],
        );
      }
      return [...(parts[gpu] ?? [])].flatMap(([other, otherState]): [number, number][] =>
        otherState === "executing" ? [[gpu, other]] : [],
      );
    };
    const colors = new Map<string, "open" | "closed">();
    const visit = (gpu: number, collective: number): boolean => {
      const key = `${gpu}:${collective}`;
      const color = colors.get(key);
      if (color !== undefined) return color === "open";
      colors.set(key, "open");
      const found = edges(gpu, collective).some(([g, c]) => visit(g, c));
      colors.set(key, "closed");
      return found;
    };
    return parts.some((states, gpu) => [...states].some(([collective, state]) => state !== "successful" && visit(gpu, collective)));
  };

  for (let at = 0; at < longest; at += 1) {
    for (const [gpu, sequence] of sequences.entries()) {
      const action = sequence[at];
      if (action === undefined) continue;
      if (action !== SYNCHRONIZATION) parts[gpu]?.set(action, "invoked");
      if (model === "synchronization") backlog[gpu]?.push(action);
      goOn(gpu);
      if (hasCycle()) return true;
    }
  }
  return false;
}
