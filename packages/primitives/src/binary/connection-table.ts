import type { Block } from "../program.js";
import { ConnectionSharedError } from "../program-errors.js";

export interface ConnectionEntry {
  readonly peer: number;
  readonly channel: number;
  readonly isSend: 0 | 1;
  readonly block: number;
}

type Direction = "send" | "recv";

/** The connection ends that a rank uses, in the order of their first use; a fused step's receiving end comes first. */
export class ConnectionTable {
  private readonly entries: ConnectionEntry[] = [];
  private readonly indices = new Map<string, { index: number; block: number; step: number }>();

  /** @throws {ConnectionSharedError} if two blocks use the same end. */
  constructor(
    private readonly rank: number,
    blocks: readonly Block[],
  ) {
    blocks.forEach(({ steps }, block) => {
      steps.forEach((step, index) => {
        if (step.recv) this.add("recv", step.recv, block, index);
        if (step.send) this.add("send", step.send, block, index);
      });
    });
  }

  get records(): readonly ConnectionEntry[] {
    return this.entries;
  }

  indexOf(direction: Direction, end: { peer: number; channel: number }): number {
    return this.indices.get(key(direction, end))?.index ?? -1;
  }

  private add(direction: Direction, end: { peer: number; channel: number }, block: number, step: number): void {
    const known = this.indices.get(key(direction, end));
    if (known === undefined) {
      this.indices.set(key(direction, end), { index: this.entries.length, block, step });
      this.entries.push({ peer: end.peer, channel: end.channel, isSend: direction === "send" ? 1 : 0, block });
    } else if (known.block !== block) {
      const { rank } = this;
      const other = { rank, block: known.block, step: known.step };
      throw new ConnectionSharedError({ rank, block, step }, other, direction, end.peer, end.channel);
    }
  }
}

function key(direction: Direction, { peer, channel }: { peer: number; channel: number }): string {
  return `${direction} ${peer} ${channel}`;
}
