import type { SeededRandom } from "@dfccl/primitives";
import {
  type Act,
  type ActorPlan,
  encodeTaskId,
  type Kernel,
  type Register,
  type RegisterSpec,
  type TaskId,
  type TaskSpec,
  type VirtualClock,
} from "../../src/index.js";

interface Node {
  readonly id: TaskId;
  readonly inputs: number[];
  readonly inPlaceOf: number | undefined;
}

/**
 * A random graph over up to three ranks with two streams each: registers of one to three, control edges, results in place. Every
 * kernel takes random time, poisons its outputs meanwhile, and checks its inputs when it begins and when it ends: a
 * register that is freed too early, lost, doubled or reordered can't go unseen.
 */
export function randomPlan(random: SeededRandom, clock: VirtualClock, records: number): ActorPlan {
  const ranks = 1 + random.below(3);
  const nodes: Node[] = [];
  const consumers = new Map<number, TaskId[]>();
  const size = 3 + random.below(6);
  for (let task = 0; task < size; task += 1) {
    const id = encodeTaskId({ rank: random.below(ranks), stream: random.below(2), task });
    const isSource = task === 0 || random.below(6) === 0;
    const inputs = isSource ? [] : [...new Set(Array.from({ length: 1 + random.below(3) }, () => random.below(task)))];
    for (const input of inputs) consumers.set(input, [...(consumers.get(input) ?? []), id]);
    nodes.push({ id, inputs, inPlaceOf: undefined });
  }
  const isControl = nodes.map(() => random.below(5) === 0);
  const value = (task: number, record: number): number => {
    if (isControl[task]) return 0;
    return (nodes[task]?.inputs ?? []).reduce((sum, input) => (sum + 3 * value(input, record)) % 9973, 31 * (task + 1) + record);
  };
  const registers: RegisterSpec[] = nodes.map(({ id, inputs }, task) => {
    // In place only where nobody else reads the input, because this writes to it.
    const shown = inputs.find((input) => consumers.get(input)?.length === 1 && !isControl[input]);
    const isInPlace = shown !== undefined && !isControl[task] && random.below(2) === 0;
    return {
      id: task,
      producer: id,
      consumers: consumers.get(task) ?? [],
      count: 1 + random.below(3),
      elements: isControl[task] ? 0 : 4,
      ...(isInPlace ? { inPlaceOf: shown } : {}),
    };
  });
  const tasks: TaskSpec[] = nodes.map(({ id, inputs }, task) => {
    const inPlaceOf = registers[task]?.inPlaceOf;
    const kernel: Kernel = (act, done) => {
      const wrong = firstWrong(act, inputs, value);
      if (wrong !== undefined) throw new Error(wrong);
      for (const { data } of act.outputs) if (inPlaceOf === undefined) data.fill(Number.NaN);
      clock.after(random.below(5), () => {
        const late = firstWrong(act, inputs, value);
        for (const { data } of act.outputs) data.fill(value(task, act.number));
        done(late === undefined ? undefined : new Error(late));
      });
    };
    return { id, name: `task ${task}`, consumes: inputs, produces: [task], kernel, ...(inputs.length === 0 ? { records } : {}) };
  });
  return { tasks, registers };
}

function firstWrong(act: Act, inputs: readonly number[], value: (task: number, record: number) => number): string | undefined {
  for (const [position, input] of inputs.entries()) {
    const { record, data } = act.inputs[position] as Register;
    if (record !== act.number) return `input ${input} holds record ${record} in act ${act.number}`;
    if (data.some((element) => element !== value(input, record)))
      return `input ${input} has changed while it was read in act ${act.number}`;
  }
  return undefined;
}
