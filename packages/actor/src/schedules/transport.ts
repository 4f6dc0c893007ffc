import { checkFunction, checkInteger, checkOptions, InvalidArgumentError } from "@dfccl/primitives";
import { mostRanks } from "../limits.js";
import { readFields } from "../read-fields.js";

/**
 * Messages between the ranks that reduce together, small ones about order: gradients go through the library. Plain data,
 * so that any channel can carry them: an in-process bus, worker ports, sockets.
 */
export interface Transport<Message = unknown> {
  readonly rank: number;
  readonly size: number;
  /** Delivered later, never within this call; messages from one rank to another arrive in the order of sending. */
  send(to: number, message: Message): void;
  /** Sets who gets what arrives. What came before is delivered then. */
  listen(handler: (from: number, message: Message) => void): void;
  close(): void;
}

/** A transport for each of `size` ranks in one thread; messages arrive as microtasks do. At most 65,536. @throws {InvalidArgumentError}, UnknownOptionError */
export function inProcessTransports<Message = unknown>(
  size: number,
  options: {
    /** Runs a delivery later. Default: as a microtask. A test may delay it; the order of each pair of ranks must be kept. */
    readonly defer?: (deliver: () => void, from: number, to: number) => void;
  } = {},
): readonly Transport<Message>[] {
  checkInteger("size", size, 1, mostRanks);
  const [names, example] = [{ defer: true } as const, "an object such as { defer: queueMicrotask }"];
  checkOptions("options", options, names, example);
  const { defer = queueMicrotask } = readFields("options", options, names, example);
  checkFunction("defer", defer, "a function that runs a delivery later");
  const ends: InProcessTransport<Message>[] = [];
  for (let rank = 0; rank < size; rank += 1) ends.push(new InProcessTransport(rank, ends, size, defer));
  return ends;
}

class InProcessTransport<Message> implements Transport<Message> {
  private handler: ((from: number, message: Message) => void) | undefined;
  private early: { readonly from: number; readonly message: Message }[] = [];
  private isOpen = true;

  constructor(
    readonly rank: number,
    private readonly ends: readonly InProcessTransport<Message>[],
    readonly size: number,
    private readonly defer: (deliver: () => void, from: number, to: number) => void,
  ) {}

  send(to: number, message: Message): void {
    const end = typeof to === "number" ? this.ends[to] : undefined;
    if (end === undefined) throw new InvalidArgumentError("to", to, `a rank from 0 to ${this.size - 1}`);
    this.defer(() => end.receive(this.rank, message), this.rank, to);
  }

  listen(handler: (from: number, message: Message) => void): void {
    checkFunction("handler", handler, "a function of the sender and the message");
    this.handler = handler;
    const early = this.early;
    this.early = [];
    for (const { from, message } of early) handler(from, message);
  }

  close(): void {
    this.isOpen = false;
    this.early = [];
  }

  private receive(from: number, message: Message): void {
    if (!this.isOpen) return;
    if (this.handler === undefined) this.early.push({ from, message });
    else this.handler(from, message);
  }
}
