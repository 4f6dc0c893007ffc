import type { ActorPlan, Kernel, Rhythm, TaskSpec } from "../actors/plan.js";
import type { RegisterSpec } from "../actors/register-spec.js";
import { encodeTaskId, type TaskId } from "../actors/task-id.js";

/** Streams of a rank: what computes, what communicates and what copies don't wait for each other. */
export const streams = { compute: 0, collective: 1, copy: 2 } as const;

export interface NewTask {
  readonly rank: number;
  readonly stream: number;
  readonly name: string;
  /** Registers that it reads. */
  readonly inputs: readonly number[];
  readonly kernel: Kernel;
  readonly output?: { readonly elements: number; readonly count?: number; readonly inPlaceOf?: number };
  readonly rhythm?: Rhythm;
  /** For tasks without inputs. */
  readonly records?: number;
  readonly isAsynchronous?: boolean;
}

/** Tasks and registers under construction; consumers are noted as tasks that read are added. */
export class PlanBuilder {
  private readonly tasks: TaskSpec[] = [];
  private readonly registers: (Omit<RegisterSpec, "consumers"> & { readonly consumers: TaskId[] })[] = [];
  private readonly taskCounts = new Map<string, number>();

  /** @returns the register of its output, or of none. */
  add({ rank, stream, name, inputs, kernel, output, ...more }: NewTask): { readonly task: TaskId; readonly register: number } {
    const key = `${rank} ${stream}`;
    const task = this.taskCounts.get(key) ?? 0;
    this.taskCounts.set(key, task + 1);
    const id = encodeTaskId({ rank, stream, task });
    const produces: number[] = [];
    const spec: TaskSpec = { id, name: `${name} @${rank}`, consumes: [...new Set(inputs)], produces, kernel, ...more };
    this.tasks.push(spec);
    for (const input of spec.consumes) this.registers[input]?.consumers.push(id);
    return { task: id, register: output === undefined ? -1 : this.addRegister(id, produces, output) };
  }

  /** A register that carries order alone, from a task to those that name it as an input. */
  addControl(task: TaskId, count: number): number {
    const spec = this.tasks.find(({ id }) => id === task);
    return this.addRegister(task, spec?.produces as number[], { elements: 0, count });
  }

  consumersOf(register: number): readonly TaskId[] {
    return [...(this.registers[register]?.consumers ?? [])];
  }

  outputsOf(task: TaskId): readonly RegisterSpec[] {
    return this.registers.filter(({ producer }) => producer === task);
  }

  build(): ActorPlan {
    return { tasks: this.tasks, registers: this.registers };
  }

  private addRegister(producer: TaskId, produces: number[], output: { elements: number; count?: number; inPlaceOf?: number }): number {
    const id = this.registers.length;
    produces.push(id);
    this.registers.push({ id, producer, consumers: [], ...output });
    return id;
  }
}
