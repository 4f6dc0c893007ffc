import { InvalidArgumentError } from "@dfccl/primitives";

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

const mostRanks = 65_536;

/** A transport for each of `size` ranks in one thread; messages arrive as microtasks do. */
export function inProcessTransports<Message = unknown>(
  size: number,
  options: {
    /** Runs a delivery later. Default: as a microtask. A test may delay it; the order of each pair of ranks must be kept. */
    readonly defer?: (deliver: () => void, from: number, to: number) => void;
  } = {},
): readonly Transport<Message>[] {
  if (!Number.isInteger(size) || size < 1 || size > mostRanks)
    throw new InvalidArgumentError("size", size, `a whole number of ranks from 1 to ${mostRanks}`);
  const { defer = queueMicrotask } = options;
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
    const end = this.ends[to];
    if (end === undefined) throw new InvalidArgumentError("to", to, `a rank from 0 to ${this.size - 1}`);
    this.defer(() => end.receive(this.rank, message), this.rank, to);
  }

  listen(handler: (from: number, message: Message) => void): void {
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
