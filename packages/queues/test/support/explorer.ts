import type { SharedWords } from "../../src/shared-words.js";
import { type Access, type AccessLog, accessWords, Pending, performAccess, ReplayedWords } from "./replayed-words.js";

/** What a participant may do besides accessing shared memory. */
export interface ParticipantIo {
  /** Adds to this participant's output, which the check sees. */
  emit(value: number | string): void;
  /**
   * Repeats an attempt until it gives something other than `undefined` or `false`. After a failure it sleeps until a word
   * that the attempt looked at has changed: until then it would fail again. After `attempts` failures it stops for good.
   */
  until<T>(attempt: () => T | undefined | false): T;
}

/**
 * One thread of the model. `prepare` makes its objects, before anything starts; the function that it returns is run under
 * the scheduler. Both must depend on nothing but what they read from `words`.
 */
export interface Participant {
  readonly name: string;
  readonly prepare: (words: SharedWords) => (io: ParticipantIo) => void;
  /** May stop forever between any two accesses. */
  readonly isKillable?: boolean;
}

export type ParticipantEnd = "done" | "killed" | "gave up" | "stuck";

export interface Ending {
  readonly outputs: readonly (readonly (number | string)[])[];
  readonly ends: readonly ParticipantEnd[];
  /** True if every participant finished. */
  readonly isComplete: boolean;
}

export interface Model {
  /** Initialises the memory; runs alone. */
  readonly setUp: (words: SharedWords) => void;
  readonly wordCount: number;
  readonly participants: readonly Participant[];
  /** Throws if an ending is wrong. Called for each ending, also those in which somebody was killed or gave up. */
  readonly check: (ending: Ending) => void;
  readonly kills?: number;
  /** Word that becomes 1 when participant 0 is killed, the next for participant 1, and so on: how survivors learn of it. */
  readonly graves?: number;
  readonly attempts?: number;
  /**
   * Words whose accesses are made together with the access before them, to keep big models small: an entry of eight words
   * that are all treated alike shows as much with two of them.
   */
  readonly isMerged?: (index: number) => boolean;
}

export type Exploration =
  | { readonly ok: true; readonly states: number; readonly endings: number; readonly completeEndings: number }
  | { readonly ok: false; readonly states: number; readonly problem: string; readonly schedule: readonly string[] };

interface Thread {
  readonly log: AccessLog;
  readonly hash: number;
  readonly hash2: number;
  readonly pending: Access | "done" | "gave up" | "killed";
  readonly output: readonly (number | string)[];
}

interface State {
  readonly memory: Int32Array;
  readonly threads: readonly Thread[];
  readonly killsLeft: number;
  readonly step: Step | undefined;
}

interface Step {
  readonly before: Step | undefined;
  readonly text: string;
}

/**
 * Tries every interleaving of the participants' accesses to shared memory (sequentially consistent, as Atomics are), and with
 * `kills` also every point at which that many of them stop forever. A participant is plain code: it is run again from its
 * beginning with the results of its earlier accesses until it comes to its next one. States that were seen before are not
 * entered again; they are recognised by 53-bit fingerprints of memory and of what each participant has read.
 */
export function explore(model: Model): Exploration {
  const attempts = model.attempts ?? 3;
  const seen = new Set<number>();
  let endings = 0;
  let completeEndings = 0;
  const memory = new Int32Array(model.wordCount);
  model.setUp(new ReplayedWords([], memory, true));
  let current: State | undefined;
  try {
    const threads = model.participants.map((participant) => advance(participant, [], 0, 0, memory, attempts));
    const stack: State[] = [{ memory, threads, killsLeft: model.kills ?? 0, step: undefined }];
    for (current = stack.pop(); current !== undefined; current = stack.pop()) {
      const before = stack.length;
      for (const next of successors(model, current, attempts)) {
        const fingerprint = fingerprintOf(next);
        if (seen.has(fingerprint)) continue;
        seen.add(fingerprint);
        stack.push(next);
      }
      if (before === stack.length && isEnding(current)) {
        endings++;
        const ending = endingOf(current);
        if (ending.isComplete) completeEndings++;
        model.check(ending);
      }
    }
  } catch (error) {
    const schedule: string[] = [];
    const last = error instanceof StepViolation ? error.step : current?.step;
    for (let step = last; step !== undefined; step = step.before) schedule.unshift(step.text);
    return { ok: false, states: seen.size, problem: error instanceof Error ? error.message : String(error), schedule };
  }
  return { ok: true, states: seen.size, endings, completeEndings };
}

function isMerged(access: Access, test: (index: number) => boolean): boolean {
  return access.awaits === undefined && access.indexes.every(test);
}

class StepViolation extends Error {
  constructor(
    message: string,
    readonly step: Step | undefined,
  ) {
    super(message);
  }
}

function* successors(model: Model, state: State, attempts: number): Generator<State> {
  for (const [index, participant] of model.participants.entries()) {
    const thread = state.threads[index];
    if (thread === undefined || typeof thread.pending === "string") continue;
    const access = thread.pending;
    if (state.killsLeft > 0 && participant.isKillable === true) {
      const killed: Thread = { ...thread, pending: "killed" };
      const step = { before: state.step, text: `${participant.name} dies` };
      const memory = state.memory.slice();
      if (model.graves !== undefined) memory[model.graves + index] = 1;
      yield { memory, threads: state.threads.with(index, killed), killsLeft: state.killsLeft - 1, step };
    }
    if (!isEnabled(access, state.memory)) continue;
    const memory = state.memory.slice();
    let step = state.step;
    let next = thread;
    do {
      const entry = performAccess(next.pending as Access, memory);
      step = { before: step, text: `${participant.name} ${(next.pending as Access).text(entry.result)}` };
      const hash = mix(next.hash, entry.result);
      const hash2 = mix(next.hash2 ^ 0x5bd1e995, entry.result);
      try {
        next = advance(participant, [...next.log, entry], hash, hash2, memory, attempts);
      } catch (error) {
        throw new StepViolation(error instanceof Error ? error.message : String(error), step);
      }
    } while (typeof next.pending !== "string" && model.isMerged !== undefined && isMerged(next.pending, model.isMerged));
    yield { memory, threads: state.threads.with(index, next), killsLeft: state.killsLeft, step };
  }
}

/** Runs a participant with what it has read so far, up to its next access. */
function advance(participant: Participant, log: AccessLog, hash: number, hash2: number, memory: Int32Array, attempts: number): Thread {
  const words = new ReplayedWords(log, memory, true);
  const output: (number | string)[] = [];
  const run = participant.prepare(words);
  words.isEager = false;
  let failures = 0;
  const io: ParticipantIo = {
    emit: (value) => output.push(value),
    until(attempt) {
      for (;;) {
        const from = words.cursor;
        const result = attempt();
        if (result !== undefined && result !== false) return result;
        if (++failures > attempts) throw new GaveUp();
        words.awaitChangeSince(from);
      }
    },
  };
  const thread = (pending: Thread["pending"]): Thread => ({ log: words.log, hash, hash2, pending, output });
  try {
    run(io);
  } catch (error) {
    if (error instanceof Pending) return thread(error.access);
    if (error instanceof GaveUp) return thread("gave up");
    throw error;
  }
  return thread("done");
}

class GaveUp {}

function isEnabled(access: Access, memory: Int32Array): boolean {
  if (access.awaits === undefined) return true;
  for (const [index, value] of access.awaits) {
    if (memory[index] !== value) return true;
  }
  return false;
}

function isEnding(state: State): boolean {
  return state.threads.every((thread) => typeof thread.pending === "string" || !isEnabled(thread.pending, state.memory));
}

function endingOf(state: State): Ending {
  const ends = state.threads.map((thread) => (typeof thread.pending === "string" ? thread.pending : "stuck"));
  return { outputs: state.threads.map((thread) => thread.output), ends, isComplete: ends.every((end) => end === "done") };
}

function mix(hash: number, value: number | bigint): number {
  let h = hash;
  for (const part of accessWords(value)) {
    h = Math.imul(h ^ part, 0x9e3779b1);
    h ^= h >>> 15;
  }
  return Math.imul(h + 0x7f4a7c15, 0x85ebca6b);
}

function fingerprintOf(state: State): number {
  let a = state.killsLeft + 1;
  let b = 0x811c9dc5;
  for (const word of state.memory) {
    a = Math.imul(a ^ word, 0x9e3779b1);
    a ^= a >>> 15;
    b = Math.imul(b ^ word, 0x01000193) + 0x3c6ef372;
  }
  for (const thread of state.threads) {
    const kind = typeof thread.pending === "string" ? thread.pending.length : 1;
    a = mix(a ^ thread.hash, kind + thread.log.length * 16);
    b = mix(b ^ thread.hash2, kind + thread.log.length * 16);
  }
  return (a >>> 0) * 2 ** 21 + (b >>> 11);
}
