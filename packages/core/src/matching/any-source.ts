// Receives for which no sender was named: each becomes one from the first member that is seen to have sent.
import { CollectiveTimeoutError, EngineError, givenUp } from "../errors.js";
import { callNative } from "../native-addon/native-error.js";
import type { RankEngine } from "../rank-engine.js";
import { checkBuffer, checkDeviceBuffer } from "../run-check.js";
import type { MatchedCollective } from "./matched-collective.js";
import type { MatchedGroup } from "./matched-group.js";
import type { MatchedRun } from "./matched-run.js";
import type { Signature } from "./signature.js";
import type { SignatureTable } from "./signature-table.js";

export interface OpenReceive {
  readonly group: MatchedGroup;
  readonly run: MatchedRun;
  readonly over: Promise<void>;
  readonly resolve: (run: PromiseLike<void>) => void;
  readonly reject: (error: unknown) => void;
  /** Once somebody has sent: the run that it has become. */
  taken: { readonly entry: MatchedCollective; readonly run: number } | undefined;
}

/** How a receive from a member begins. @throws {BufferError}, {@link EngineError} */
export type BeginReceive = (entry: MatchedCollective, run: MatchedRun) => PromiseLike<void>;

/** A rank's receives from any member, as long as nobody has sent for them. */
export class AnySource {
  /** Of each kind, the oldest first; never empty. */
  private readonly alike = new Map<string, OpenReceive[]>();
  /** The search begins behind it, so that no member is always first. */
  private lastSender = 0;
  count = 0;

  constructor(
    private readonly own: RankEngine,
    private readonly table: SignatureTable,
    private readonly begin: BeginReceive,
  ) {}

  /** What can be wrong with its buffer is told at once, not when somebody has sent. @throws {BufferError} */
  check({ signature: { dataType, count }, recv }: MatchedRun): void {
    const check = this.own.engine.backend === "cuda" ? checkDeviceBuffer : checkBuffer;
    check("recv", "recv", recv, dataType, count, this.own);
  }

  /** @pre it is checked. */
  add(group: MatchedGroup, run: MatchedRun): OpenReceive {
    let [resolve, reject]: [OpenReceive["resolve"], OpenReceive["reject"]] = [() => {}, () => {}];
    const over = new Promise<void>((onOver, onFailure) => {
      [resolve, reject] = [onOver, onFailure];
    });
    const receive: OpenReceive = { group, run, over, resolve, reject, taken: undefined };
    const kind = kindOf(receive);
    const waiting = this.alike.get(kind);
    if (waiting === undefined) this.alike.set(kind, [receive]);
    else waiting.push(receive);
    this.count += 1;
    return receive;
  }

  /**
   * Looks who has sent, and lets it be received. Of each kind the oldest is asked for: what comes meanwhile mustn't go to a later one.
   * @returns how many are waited for no longer.
   */
  look(): number {
    let found = 0;
    for (const [kind, waiting] of this.alike) {
      for (let receive = waiting[0]; receive !== undefined; receive = waiting[0]) {
        const begin = this.nextFor(receive);
        if (begin === undefined) break;
        waiting.shift();
        this.count -= 1;
        found += 1;
        begin();
      }
      if (waiting.length === 0) this.alike.delete(kind);
    }
    return found;
  }

  countOf(group: MatchedGroup): number {
    let count = 0;
    for (const [first, ...others] of this.alike.values()) if (first?.group === group) count += 1 + others.length;
    return count;
  }

  /** Fails what waits, of a group or all. */
  failAll(error: unknown, group?: MatchedGroup): void {
    for (const [kind, waiting] of [...this.alike]) {
      if (group !== undefined && waiting[0]?.group !== group) continue;
      this.alike.delete(kind);
      this.count -= waiting.length;
      for (const { reject } of waiting) reject(error);
    }
  }

  /** Whether nobody has sent for it yet. */
  isWaiting(receive: OpenReceive): boolean {
    return this.alike.get(kindOf(receive))?.includes(receive) ?? false;
  }

  /** Who hasn't sent; or, where somebody has, why it still isn't received. */
  timeoutOf({ group, run, taken }: OpenReceive, timeoutMs: number, record: string | undefined): CollectiveTimeoutError {
    const progress = { registered: true, submitted: 0, finished: 0 };
    return taken === undefined
      ? new CollectiveTimeoutError(
          this.nameOf(run),
          timeoutMs,
          0,
          this.sendersOf(group).map((rank) => ({ rank, ...progress })),
          record,
        )
      : new CollectiveTimeoutError(taken.entry.registration.name, timeoutMs, taken.run, taken.entry.collective.explain(), record);
  }

  /** What becomes of a receive now; undefined: nothing yet. */
  private nextFor(receive: OpenReceive): (() => void) | undefined {
    try {
      const sender = this.senderOf(receive);
      if (sender === undefined) return undefined;
      if (sender !== "nobody is left") return () => this.take(receive, sender);
      const failure = this.failureOf(receive);
      return () => receive.reject(failure);
    } catch (error) {
      return () => receive.reject(error);
    }
  }

  /** The member whose message is the next for a receive; undefined: nobody has sent yet. */
  private senderOf({ group, run }: OpenReceive): number | "nobody is left" | undefined {
    let others = group.size - 1;
    for (let i = 1; i <= group.size; i += 1) {
      const member = (this.lastSender + i) % group.size;
      const sent = this.hasSent(member, group, { ...run.signature, root: member });
      if (sent === "never again") others -= 1;
      if (sent !== true) continue;
      this.lastSender = member;
      return member;
    }
    return others === 0 && group.size > 1 ? "nobody is left" : undefined;
  }

  /** Whether a member has sent more than this rank receives from it. */
  private hasSent(member: number, group: MatchedGroup, signature: Signature): boolean | "never again" {
    const { own, table } = this;
    const { native } = own.engine;
    try {
      const entry = table.get(signature, group);
      if (member === group.member) return own.messages.hasSend(entry);
      const { registration, collective } = entry;
      if (callNative(() => native.isAborted(own.number, registration.handle))) return "never again";
      const sender = group.ranks[member];
      const isAhead = collective.explain().some(({ rank, submitted }) => rank === sender && submitted > registration.issuedRuns);
      return isAhead || (callNative(() => native.lostRanks()).some(({ rank }) => rank === sender) ? "never again" : false);
    } catch (error) {
      if (error instanceof EngineError && error.code === "OUT_OF_MEMORY") return false; // There may be room later.
      throw error;
    }
  }

  /** Receives it from that member. */
  private take(receive: OpenReceive, member: number): void {
    const { group, run } = receive;
    const { received, recv } = run;
    try {
      const entry = this.table.get({ ...run.signature, root: member }, group);
      receive.taken = { entry, run: entry.registration.issuedRuns };
      const half = member === group.member ? "recv" : undefined;
      receive.resolve(this.begin(entry, { signature: entry.signature, send: undefined, recv, half }));
      if (received !== undefined) received.source = member;
    } catch (error) {
      receive.reject(error);
    }
  }

  private failureOf({ group, run }: OpenReceive): Error {
    const remedy = "Drop the group on every rank, and make another one of those that go on.";
    const lost = callNative(() => this.own.engine.native.lostRanks());
    return givenUp({ name: this.nameOf(run), ranks: this.sendersOf(group), remedy }, lost);
  }

  private nameOf({ signature: { count, dataType, tag } }: MatchedRun): string {
    return `receive from any rank of ${count} ${dataType}, tag ${tag}, on rank ${this.own.number}`;
  }

  /** Ranks of the world from which it might come; one alone in its group receives from itself. */
  private sendersOf({ ranks, size }: MatchedGroup): readonly number[] {
    return size === 1 ? ranks : ranks.filter((rank) => rank !== this.own.number);
  }
}

function kindOf({ group, run: { signature } }: OpenReceive): string {
  return `${group.number} ${signature.dataType} ${signature.count} ${signature.tag}`;
}
