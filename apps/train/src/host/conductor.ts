import { coreCommunicator, type GradientReducer, inProcessTransports, openReducer, type ScheduleName, type Transport } from "@dfccl/actor";
import type { Rank } from "@dfccl/core";
import { groupKey } from "../rank/communicator.js";
import { type ChannelOptions, type GradientsOptions, type RankMessage, stopped } from "../wire.js";

interface HostRank {
  readonly rank: Rank;
  readonly completed: Int32Array<SharedArrayBuffer>;
  /** What starts each channel. */
  readonly start: ((onEnd: (failure: unknown) => void) => void)[];
}

// Ids of gradients lie apart from other channels' by so much for each group, because fused ones take ids behind the last.
const idsOfGroup = 1 << 16;

/**
 * Carries out what the ranks' threads ask for: registers their channels, submits them when they are started, in whatever order
 * that is, and counts their completions where the threads wait.
 */
export class Conductor {
  private readonly ranks: HostRank[] = [];
  private readonly ids = new Map<string, number>();
  private readonly groups = new Map<string, { readonly firstId: number; readonly transports: readonly Transport[] }>();
  private readonly reducers: GradientReducer[] = [];

  /** @param onFailure - a collective failed, and the run can't go on. */
  constructor(
    private readonly schedule: ScheduleName,
    private readonly onFailure: (failure: unknown) => void,
  ) {}

  /** @param completed - the words that the rank's thread waits on. @returns where its messages go. */
  add(rank: Rank, completed: Int32Array<SharedArrayBuffer>): (message: RankMessage) => void {
    const state: HostRank = { rank, completed, start: [] };
    this.ranks.push(state);
    return (message) => this.handle(state, message);
  }

  /** Wakes every thread that waits, or will, with a {@link StoppedError}. */
  stop(): void {
    for (const { completed } of this.ranks) {
      for (let channel = 0; channel < completed.length; channel += 1) {
        Atomics.store(completed, channel, stopped);
        Atomics.notify(completed, channel);
      }
    }
  }

  private handle(state: HostRank, message: RankMessage): void {
    try {
      if (typeof message === "number") state.start[message]?.((failure) => this.end(state, message, failure));
      else if (message.kind === "channel") this.openChannel(state, message.channel, message.options, message.send, message.recv);
      else if (message.kind === "synchronize") this.openSynchronization(state, message.channel);
      else if (message.kind === "gradients") this.openGradients(state, message.channel, message.options, message.memory);
    } catch (failure) {
      this.onFailure(failure);
    }
  }

  private openChannel(state: HostRank, channel: number, options: ChannelOptions, send: Float32Array, recv: Float32Array): void {
    const { name, ...rest } = options;
    const collective = state.rank.register({ ...rest, dataType: "float32", id: this.idOf(groupKey(name, options.ranks)) });
    state.start[channel] = (onEnd) => {
      collective.run(send, recv).then(() => onEnd(undefined), onEnd);
    };
  }

  private openSynchronization(state: HostRank, channel: number): void {
    state.start[channel] = (onEnd) => {
      state.rank.synchronize().then(() => onEnd(undefined), onEnd);
    };
  }

  private openGradients(state: HostRank, channel: number, options: GradientsOptions, memory: readonly Float32Array[]): void {
    const { ranks, gradients } = options;
    const { firstId, transports } = this.groupOf(groupKey(options.name, ranks), ranks.length);
    const tensors = gradients.map((gradient, i) => ({ ...gradient, id: firstId + i }));
    const communicator = coreCommunicator(state.rank, { ranks });
    const transport = transports[communicator.rank];
    const reducer = openReducer({ communicator, tensors, schedule: this.schedule, ...(transport === undefined ? {} : { transport }) });
    this.reducers.push(reducer);
    for (const [i, data] of memory.entries()) {
      state.start[channel + i] = (onEnd) => reducer.ready(firstId + i, data, onEnd);
    }
  }

  private end({ completed }: HostRank, channel: number, failure: unknown): void {
    if (failure !== undefined) {
      this.onFailure(failure);
    } else if (Atomics.load(completed, channel) !== stopped) {
      Atomics.add(completed, channel, 1);
      Atomics.notify(completed, channel);
    }
  }

  private idOf(key: string): number {
    const id = this.ids.get(key) ?? this.ids.size;
    this.ids.set(key, id);
    return id;
  }

  private groupOf(key: string, size: number): { readonly firstId: number; readonly transports: readonly Transport[] } {
    let group = this.groups.get(key);
    if (group === undefined) {
      group = { firstId: idsOfGroup * (this.groups.size + 1), transports: inProcessTransports(size) };
      this.groups.set(key, group);
    }
    return group;
  }
}
