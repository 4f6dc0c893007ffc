/** A connection's slots, and from when on either end may use them. */
export class Connection {
  /** The block that waits for a message, or for a slot. */
  receiver: number | undefined;
  sender: number | undefined;
  #sent = 0;
  #read = 0;
  readonly #arrivesAt: Float64Array;
  readonly #freeAt: Float64Array;
  #creditNs = 0;

  constructor(readonly slotCount: number) {
    this.#arrivesAt = new Float64Array(slotCount);
    this.#freeAt = new Float64Array(slotCount);
  }

  /** When the next message can be read, in ns; undefined where it hasn't been sent. */
  get messageAt(): number | undefined {
    return this.#read < this.#sent ? this.#arrivesAt[this.#read % this.slotCount] : undefined;
  }

  /** When the next message can be written; undefined where what lies in its slot hasn't been read. */
  get slotAt(): number | undefined {
    return this.#sent - this.#read < this.slotCount ? this.#freeAt[this.#sent % this.slotCount] : undefined;
  }

  /** @param creditNs - until the sender knows that a slot was read. */
  send(arrivesAt: number, creditNs: number): void {
    this.#arrivesAt[this.#sent % this.slotCount] = arrivesAt;
    this.#sent += 1;
    this.#creditNs = creditNs;
  }

  /** @returns from when on the slot is the sender's again. */
  read(now: number): number {
    const freeAt = now + this.#creditNs;
    this.#freeAt[this.#read % this.slotCount] = freeAt;
    this.#read += 1;
    return freeAt;
  }
}
