import { checkOptions, InvalidArgumentError, type OptionNames } from "@dfccl/primitives";
import { readFields, readWholeNumbers } from "../read-fields.js";
import type { GradientReducer, GradientTensor, ReducerStatistics } from "./gradient-reducer.js";
import { asPromise, type Launcher } from "./launcher.js";
import { cutIntoGroups, type MergeLimits, readLimits } from "./merge-groups.js";
import { OrderedLaunch } from "./ordered-launch.js";

export interface StaticOptions extends MergeLimits {
  /**
   * Ids in the order of launch, the same on every rank. Default: the tensors from the last to the first, because the
   * backward pass goes from the last layer to the first.
   */
  readonly order?: readonly number[];
}

const optionNames: OptionNames<StaticOptions> = { order: true, maxGroupBytes: true, maxGroupSize: true };

/** Options with the limits that are left out put in. @throws {InvalidArgumentError}, UnknownOptionError */
export function readStaticOptions(options: StaticOptions): Required<MergeLimits> & StaticOptions {
  const example = "an object such as { maxGroupSize: 64 }";
  checkOptions("static", options, optionNames, example);
  const { order, ...limits } = readFields("static", options, optionNames, example);
  const read = readLimits("static", limits);
  return order === undefined ? read : { ...read, order: readWholeNumbers("order", order, "a list of tensors' ids") };
}

/**
 * Static sorting: order and groups are fixed before the start. Gradients of data parallelism don't depend on each other's
 * all-reduce, so all have one depth, and only the limits cut groups.
 */
export class StaticReducer implements GradientReducer {
  readonly schedule = "static";
  private readonly launch: OrderedLaunch;

  constructor(
    private readonly launcher: Launcher,
    tensors: readonly GradientTensor[],
    options: Required<MergeLimits> & StaticOptions,
  ) {
    const order = options.order ?? tensors.map(({ id }) => id).reverse();
    if (order.length !== tensors.length || new Set(order).size !== tensors.length) {
      throw new InvalidArgumentError("order", order, `each of the ${tensors.length} tensors once`);
    }
    const entries = order.map((id) => ({ id, bytes: 4 * launcher.tensor(id).elements }));
    const groups = cutIntoGroups(entries, options).map((group) => group.map(({ id }) => id));
    this.launch = new OrderedLaunch(launcher, groups);
    launcher.registerAll();
  }

  ready(id: number, data: Float32Array, onReduced: (failure: unknown) => void = () => undefined): void {
    this.launch.add(this.launcher.take(id, data, onReduced));
  }

  reduce(id: number, data: Float32Array): Promise<void> {
    return asPromise((onReduced) => this.ready(id, data, onReduced));
  }

  async endStep(): Promise<void> {
    this.launch.requireNothingHeld(this.schedule);
    await this.launcher.drained();
  }

  statistics(): ReducerStatistics {
    return this.launcher.statistics();
  }

  close(): void {
    this.launcher.close();
  }
}
