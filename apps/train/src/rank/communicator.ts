import { checkInteger, checkText, InvalidArgumentError, inputSegmentsOf, type OptionNames, outputSegmentsOf } from "@dfccl/primitives";
import { readList, readOptions, readRanks } from "../read-options.js";
import { type ChannelOptions, type GradientsOptions, maxChannels, type RankMessage, type RankStart } from "../wire.js";
import { Channel } from "./channel.js";

/** The group of ranks that a collective is of; default all. */
interface GroupOption {
  readonly ranks?: readonly number[] | undefined;
}

type OfGroup<Options> = Omit<Options, "ranks"> & GroupOption;

const channelNames: OptionNames<OfGroup<ChannelOptions>> = {
  name: true,
  collective: true,
  count: true,
  op: true,
  root: true,
  priority: true,
  ranks: true,
};
const gradientsNames: OptionNames<OfGroup<GradientsOptions>> = { name: true, gradients: true, ranks: true };
const gradientNames = { name: true, elements: true, priority: true } as const;

/** 2 GiB, which one rank's memory may well have and 2^32 elements not. */
const mostElements = 2 ** 29;

/** A rank's end of the run, in its own thread. */
export class Communicator {
  /** This rank's number, from 0. */
  readonly rank: number;
  /** Number of ranks. */
  readonly size: number;
  private readonly known = new Map<string, Channel>();
  private nextChannel = 0;
  private synchronization: Channel | undefined;

  /** @internal */
  constructor(
    private readonly start: Pick<RankStart, "rank" | "ranks" | "completed">,
    private readonly post: (message: RankMessage) => void,
  ) {
    this.rank = start.rank;
    this.size = start.ranks;
  }

  /**
   * Registers a collective of float32, or gives the one that has this name and these ranks already. The other ranks do the
   * same, in any order.
   * @throws {InvalidArgumentError} for an impossible group of ranks, or one channel too many.
   */
  channel(given: OfGroup<ChannelOptions>): Channel {
    const options = readOptions(given, channelNames, 'an object such as { name: "loss", collective: "all-reduce", count: 1 }');
    checkText("name", options.name, "a name, the same on all ranks");
    const ranks = this.group(options);
    const key = groupKey(options.name, ranks);
    let channel = this.known.get(key);
    if (channel === undefined) {
      const { name, collective, count } = options;
      const [inputs, outputs] = [inputSegmentsOf(collective, ranks.length), outputSegmentsOf(collective, ranks.length)];
      checkInteger("count", count, 0, Math.floor(mostElements / Math.max(1, inputs, outputs)));
      const number = this.claim(1);
      const [sent, received] = [inputs * count, outputs * count];
      const send = floats(sent);
      const recv = sent === received ? send : floats(received);
      this.post({ kind: "channel", channel: number, options: { ...options, ranks }, send, recv });
      channel = new Channel(name, send, recv, number, this.start.completed, this.post);
      this.known.set(key, channel);
    }
    return channel;
  }

  /**
   * Registers the averaging of gradients, once for a name and group of ranks; each is a channel that works in place. What is
   * started may wait for others, as the run's schedule has it: start each one once in every step.
   * @throws {InvalidArgumentError} as channel() does.
   */
  gradients(given: OfGroup<GradientsOptions>): readonly Channel[] {
    const options = readOptions(given, gradientsNames, "an object such as { name, gradients }");
    const { name } = options;
    checkText("name", name, "a name, the same on all ranks");
    const ranks = this.group(options);
    const gradients = readList("gradients", options.gradients, "a list of { name, elements, priority }").map((one) => {
      const gradient = readOptions(one, gradientNames, 'an object such as { name: "w", elements: 4, priority: 1 }');
      checkText("gradients[].name", gradient.name, "a name");
      checkInteger("gradients[].elements", gradient.elements, 1, mostElements);
      return gradient;
    });
    const first = this.claim(gradients.length);
    const memory = gradients.map(({ elements }) => floats(elements));
    this.post({ kind: "gradients", channel: first, options: { name, gradients, ranks }, memory });
    return memory.map((data, i) => new Channel(`${gradients[i]?.name}`, data, data, first + i, this.start.completed, this.post));
  }

  /** A device synchronization of this rank: blocks until the engine's daemon, which is there now, has left. Safe anywhere. */
  synchronize(): void {
    this.synchronization ??= this.synchronizationChannel();
    this.synchronization.run();
  }

  /** Sends a value to whoever started the ranks: a step's loss, say. It must be something that threads can exchange. */
  report(value: unknown): void {
    try {
      this.post({ kind: "report", value });
    } catch {
      throw new InvalidArgumentError("value", value, "what threads can exchange: no functions, no symbols");
    }
  }

  private synchronizationChannel(): Channel {
    const channel = this.claim(1);
    this.post({ kind: "synchronize", channel });
    return new Channel("synchronization", floats(0), floats(0), channel, this.start.completed, this.post);
  }

  private group({ ranks: given }: GroupOption): readonly number[] {
    if (given === undefined) return Array.from({ length: this.size }, (_, rank) => rank);
    const ranks = readRanks(given, this.size);
    if (!ranks.includes(this.rank)) throw new InvalidArgumentError("ranks", ranks, `a list with rank ${this.rank}`);
    return ranks;
  }

  private claim(channels: number): number {
    const first = this.nextChannel;
    this.nextChannel += channels;
    if (this.nextChannel > maxChannels) throw new InvalidArgumentError("channels", this.nextChannel, `at most ${maxChannels} on a rank`);
    return first;
  }
}

/** What a channel, or a set of gradients, is known by on all its ranks. */
export function groupKey(name: string, ranks: readonly number[]): string {
  return `${name} on ${ranks.join()}`;
}

function floats(count: number): Float32Array<SharedArrayBuffer> {
  return new Float32Array(new SharedArrayBuffer(4 * count));
}
