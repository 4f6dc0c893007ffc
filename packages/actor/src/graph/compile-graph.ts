import { checkText, formatValue, readArgument } from "@dfccl/primitives";
import type { ActorPlan, Kernel } from "../actors/plan.js";
import type { Boxing } from "../boxing/boxing.js";
import { chooseBoxing } from "../boxing/choose-boxing.js";
import { mostRegisters } from "../limits.js";
import { readFields } from "../read-fields.js";
import { type Box, copyBox, shapeOf, volumeOf, wholeBox } from "../sbp/box.js";
import { boxOf, elementsOf, isSameLayout, type Layout } from "../sbp/layout.js";
import { formatSbp } from "../sbp/sbp.js";
import { type CompileOptions, readCompileOptions } from "./compile-options.js";
import { GraphError } from "./errors.js";
import type { LogicalGraph } from "./logical-graph.js";
import { lowerBoxing, type RankRegisters } from "./lower-boxing.js";
import { elementBytes, type LocalTensor } from "./op-definition.js";
import { pipelineCounts } from "./pipeline-counts.js";
import { PlanBuilder, streams } from "./plan-builder.js";
import { type ResolvedOp, resolveGraph } from "./resolve-graph.js";

export interface CompiledGraph {
  /** Tasks of all ranks, for `runActors`. */
  readonly plan: ActorPlan;
  readonly ops: readonly ResolvedOp[];
  /** What was put between operations whose layouts differ. */
  readonly boxings: readonly { readonly producer: string; readonly consumer: string; readonly boxing: Boxing }[];
  /** A variable as it is now, put together from all ranks. */
  readVariable(name: string): Float32Array;
}

/**
 * Compiles a logical graph to tasks and registers: signatures are chosen, boxing is put between layouts that differ, buffers
 * stand where a pipeline needs them, and variables are updated only when everybody has read them.
 * @throws {GraphError}, PlacementError, ShapeError, SignatureError, InvalidArgumentError, UnknownOptionError before anything is registered.
 */
export function compileGraph(graph: LogicalGraph, options: CompileOptions): CompiledGraph {
  const read = readCompileOptions(options);
  return new Compilation(resolveGraph(graph), read).compile();
}

class Compilation {
  private readonly builder = new PlanBuilder();
  private readonly results = new Map<ResolvedOp, RankRegisters>();
  private readonly boxed = new Map<string, RankRegisters>();
  private readonly boxings: { producer: string; consumer: string; boxing: Boxing }[] = [];
  private readonly variables = new Map<string, { readonly layout: Layout; readonly parts: Map<number, Float32Array> }>();
  private readonly stages: number;
  private nextId: number;

  constructor(
    private readonly ops: readonly ResolvedOp[],
    private readonly options: CompileOptions,
  ) {
    this.stages = 1 + Math.max(0, ...ops.map(({ stage }) => stage));
    this.nextId = options.firstCollectiveId ?? 0;
    for (const { op, output } of ops) this.checkData(op.op, op.name, output.shape);
  }

  compile(): CompiledGraph {
    // All counts are looked at before the first collective is registered.
    for (const consumer of this.ops) for (const producer of consumer.inputs) this.countsOf(producer, consumer);
    for (const op of this.ops.filter(({ definition }) => !definition.isUpdate)) this.lower(op);
    // Last, because an update waits for all that read its variable.
    for (const op of this.ops.filter(({ definition }) => definition.isUpdate)) this.lowerUpdate(op);
    return { plan: this.builder.build(), ops: this.ops, boxings: this.boxings, readVariable: (name) => this.readVariable(name) };
  }

  private checkData(kind: string, name: string, shape: readonly number[]): void {
    const { feeds, initial } = this.options;
    if (kind === "input" && ownOf(feeds, name) === undefined)
      throw new GraphError("UNKNOWN_INPUT", name, "has no data", "Name it among the feeds.");
    if (kind !== "variable") return;
    const elements = volumeOf(wholeBox(shape));
    const data = ownOf(initial, name);
    if (data?.length === elements) return;
    const given = data === undefined ? "has no initial value" : `begins with ${data.length} elements instead of ${elements}`;
    throw new GraphError("SHAPE", name, given, "Give the whole tensor among the initial values.", { elements });
  }

  private countsOf(producer: ResolvedOp, consumer: ResolvedOp): { readonly buffer?: number; readonly arrival: number } {
    const expected = "a function that returns the counts of an edge, such as pipelineCounts";
    const counts = readArgument("counts", expected, () => (this.options.counts ?? pipelineCounts)(producer, consumer, this.stages));
    const { buffer, arrival = 1 } = readFields("counts()", counts, { buffer: true, arrival: true }, "an object such as { buffer: 2 }");
    for (const count of [buffer ?? 1, arrival]) {
      if (Number.isInteger(count) && count >= 1 && count <= mostRegisters) continue;
      const remedy = `Give every edge 1 to ${mostRegisters} registers: without one its producer could never act.`;
      throw new GraphError("REGISTER_COUNT", consumer.op.name, `gets ${formatValue(count)} registers from ${producer.op.name}`, remedy, {
        count,
        producer: producer.op.name,
      });
    }
    return { arrival, ...(buffer === undefined ? {} : { buffer }) };
  }

  private lower(resolved: ResolvedOp): void {
    const { op, definition, attributes, output, wanted } = resolved;
    const sources = resolved.inputs.map((input, index) => this.inputRegisters(input, wanted[index] as Layout, resolved));
    const registers = new Map<number, number>();
    output.placement.ranks.forEach((rank, member) => {
      const inputs = sources.map((source) => source.get(rank) ?? -1);
      const { times = 1 } = attributes;
      const added = this.builder.add({
        rank,
        stream: streams.compute,
        name: op.name,
        inputs,
        kernel: this.kernelOf(resolved, rank, member, inputs),
        ...(op.op === "output" ? {} : { output: this.outputOf(resolved, member, inputs) }),
        ...(definition.rhythm === "holds-input" ? { rhythm: { actsPerInput: times } } : {}),
        ...(definition.rhythm === "sends-late" ? { rhythm: { actsPerOutput: times } } : {}),
        ...(definition.rhythm === "source" ? { records: this.options.steps } : {}),
      });
      registers.set(rank, added.register);
    });
    this.results.set(resolved, registers);
  }

  private outputOf(
    { definition, attributes, output }: ResolvedOp,
    member: number,
    [input]: readonly number[],
  ): { elements: number; count?: number; inPlaceOf?: number } {
    const elements = elementsOf(output, member);
    // Aliases need no memory: one for each act, so that none waits for another's reader.
    return definition.isInPlace && input !== undefined ? { elements, count: attributes.times ?? 1, inPlaceOf: input } : { elements };
  }

  private kernelOf(resolved: ResolvedOp, rank: number, member: number, inputs: readonly number[]): Kernel {
    const { op, definition, attributes, output, wanted } = resolved;
    const box = boxOf(output, member);
    if (op.op === "input") return this.feedKernel(resolved, box);
    if (op.op === "variable") return this.variableKernel(resolved, rank, box);
    const shapes = wanted.map((layout) => shapeOf(boxOf(layout, member)));
    const positions = inputs.map((input) => [...new Set(inputs)].indexOf(input));
    const shape = shapeOf(box);
    return (act, done) => {
      const tensors = positions.map(
        (position, index): LocalTensor => ({ data: act.inputs[position]?.data ?? new Float32Array(0), shape: shapes[index] ?? [] }),
      );
      if (op.op === "output")
        this.options.onOutput?.({ name: op.name, record: act.number, rank, box, data: tensors[0]?.data ?? new Float32Array(0) });
      else definition.compute(tensors, { data: act.outputs[0]?.data ?? new Float32Array(0), shape }, attributes, act.number);
      done();
    };
  }

  private feedKernel({ op, output }: ResolvedOp, box: Box): Kernel {
    const whole = wholeBox(output.shape);
    return (act, done) => {
      const data = ownOf(this.options.feeds, op.name)?.(act.number);
      if (data?.length !== volumeOf(whole)) {
        done(new GraphError("SHAPE", op.name, `gets ${data?.length} elements in step ${act.number}`, `Feed ${volumeOf(whole)}.`));
        return;
      }
      const [target] = act.outputs;
      if (target !== undefined) copyBox(box, data, whole, target.data, box);
      done();
    };
  }

  private variableKernel({ op, output }: ResolvedOp, rank: number, box: Box): Kernel {
    const variable = this.variables.get(op.name) ?? { layout: output, parts: new Map<number, Float32Array>() };
    this.variables.set(op.name, variable);
    const part = new Float32Array(volumeOf(box));
    copyBox(box, ownOf(this.options.initial, op.name) ?? new Float32Array(0), wholeBox(output.shape), part, box);
    variable.parts.set(rank, part);
    return (act, done) => {
      const [register] = act.outputs;
      // The register is the variable from now on: its only one, free when everybody has read it and it is updated.
      if (register !== undefined && act.number === 0) {
        register.data.set(part);
        variable.parts.set(rank, register.data);
      }
      done();
    };
  }

  /** Where an operation finds an input: boxed, and buffered. */
  private inputRegisters(producer: ResolvedOp, wanted: Layout, consumer: ResolvedOp): RankRegisters {
    const { buffer, arrival } = this.countsOf(producer, consumer);
    const key = [producer.op.name, formatSbp(wanted.sbp), wanted.placement.ranks, wanted.placement.hierarchy, buffer ?? 0, arrival].join(
      "|",
    );
    const known = this.boxed.get(key);
    if (known !== undefined) return known;
    const name = producer.op.name;
    let registers = this.results.get(producer) ?? new Map<number, number>();
    if (!isSameLayout(producer.output, wanted)) {
      const boxing = chooseBoxing(producer.output, wanted, elementBytes);
      this.boxings.push({ producer: name, consumer: consumer.op.name, boxing });
      const records = this.options.steps * producer.rate;
      const { builder } = this;
      const { collectives } = this.options;
      registers = lowerBoxing(boxing, registers, {
        builder,
        collectives,
        name,
        records,
        arrival,
        priority: 0,
        nextId: () => this.nextId++,
      });
    }
    if (buffer !== undefined) registers = this.buffered(registers, wanted, name, buffer);
    this.boxed.set(key, registers);
    return registers;
  }

  private buffered(registers: RankRegisters, wanted: Layout, name: string, count: number): RankRegisters {
    const kernel: Kernel = (act, done) => {
      act.outputs[0]?.data.set(act.inputs[0]?.data ?? []);
      done();
    };
    return new Map(
      wanted.placement.ranks.map((rank, member) => {
        const output = { elements: elementsOf(wanted, member), count };
        const task = { rank, stream: streams.copy, name: `buffer of ${name}`, inputs: [registers.get(rank) ?? -1], kernel, output };
        return [rank, this.builder.add(task).register] as const;
      }),
    );
  }

  private lowerUpdate(resolved: ResolvedOp): void {
    const { op, definition, attributes, inputs, wanted, output } = resolved;
    const [variable, gradient] = inputs;
    if (variable === undefined || gradient === undefined) return;
    const gradients = this.inputRegisters(gradient, wanted[1] as Layout, resolved);
    const variables = this.results.get(variable);
    output.placement.ranks.forEach((rank, member) => {
      const register = variables?.get(rank) ?? -1;
      const shape = shapeOf(boxOf(output, member));
      const gradientRegister = gradients.get(rank) ?? -1;
      // A task consumes each register once, also where the variable is its own gradient.
      const positions = gradientRegister === register ? [0, 0] : [0, 1];
      const controls = this.controlsOfReaders(register, rank, op.name, variable);
      this.builder.add({
        rank,
        stream: streams.compute,
        name: op.name,
        inputs: [register, gradientRegister, ...controls],
        kernel: (act, done) => {
          const tensors = positions.map((position): LocalTensor => ({ data: act.inputs[position]?.data ?? new Float32Array(0), shape }));
          definition.compute(tensors, { data: new Float32Array(0), shape }, attributes, act.number);
          done();
        },
      });
    });
  }

  /**
   * Control edges from all that read a variable's register: those that read it once a step directly, those that read aliases
   * of it through a task that counts them.
   */
  private controlsOfReaders(register: number, rank: number, name: string, variable: ResolvedOp): number[] {
    const direct: number[] = [];
    for (const task of this.builder.consumersOf(register)) {
      const aliases = this.builder.outputsOf(task).filter(({ inPlaceOf }) => inPlaceOf === register);
      if (aliases.length === 0) direct.push(this.builder.addControl(task, 1));
      for (const { id, count = 1 } of aliases) {
        const inputs = this.builder.consumersOf(id).map((reader) => this.builder.addControl(reader, count));
        if (inputs.length === 0) continue;
        const counted = { rank, stream: streams.copy, name: `readers of ${variable.op.name} for ${name}`, inputs, kernel: readAll };
        direct.push(this.builder.add({ ...counted, output: { elements: 0 }, rhythm: { actsPerOutput: count } }).register);
      }
    }
    return direct;
  }

  private readVariable(name: string): Float32Array {
    checkText("name", name, "the name of a variable");
    const variable = this.variables.get(name);
    if (variable === undefined)
      throw new GraphError("UNKNOWN_INPUT", name, "is no variable of the graph", "Name one of the graph's variables.");
    const { layout, parts } = variable;
    const whole = wholeBox(layout.shape);
    const dense = new Float32Array(volumeOf(whole));
    layout.placement.ranks.forEach((rank, member) => {
      const box = boxOf(layout, member);
      copyBox(box, parts.get(rank) ?? new Float32Array(0), box, dense, whole);
    });
    return dense;
  }
}

const readAll: Kernel = (_act, done) => done();

/** Names are the caller's: every object has a "constructor" that nobody gave it. */
function ownOf<T>(entries: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}
