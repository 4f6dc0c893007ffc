import type { Message } from "./instruction-graph.js";

/** Two messages whose ends at `rank` are one instruction: what comes in with `recv` goes out with `send`. */
interface Joint {
  readonly rank: number;
  readonly recv: number;
  readonly send: number;
}

interface Route {
  /** Smallest number of its messages. */
  first: number;
  readonly messages: number[];
  readonly joints: Joint[];
  directive: number | undefined;
}

/**
 * Ends of connections that are tied to each other, because one instruction uses both. An end belongs to one block, and a
 * block has at most one sending and one receiving end, so an end may be tied to one other only.
 */
export class JointTable {
  private readonly partner = new Map<string, number>();

  constructor(private readonly messages: readonly Message[]) {}

  /** Whether these joints can all be on a channel. */
  allows(joints: readonly Joint[], channel: number): boolean {
    const trial = new Map<string, number>();
    return joints.every((joint) =>
      this.ties(joint, channel).every(([end, peer]) => {
        const known = this.partner.get(end) ?? trial.get(end);
        trial.set(end, peer);
        return known === undefined || known === peer;
      }),
    );
  }

  add(joints: readonly Joint[], channel: number): void {
    for (const joint of joints) for (const [end, peer] of this.ties(joint, channel)) this.partner.set(end, peer);
  }

  private ties({ rank, recv, send }: Joint, channel: number): [end: string, peer: number][] {
    const from = this.messages[recv];
    const to = this.messages[send];
    if (from === undefined || to === undefined) return [];
    const place = `${rank} ${from.part} ${channel}`;
    return [
      [`${place} recv ${from.from}`, to.to],
      [`${place} send ${to.to}`, from.from],
    ];
  }
}

/** Messages that fused instructions link into chains. A chain stays on one channel. */
export class Routes {
  private readonly routeOf: Route[];
  private readonly directed: JointTable;

  constructor(private readonly messages: readonly Message[]) {
    this.routeOf = messages.map(({ id, directive }) => ({ first: id, messages: [id], joints: [], directive }));
    this.directed = new JointTable(messages);
  }

  mayJoin(rank: number, recv: number, send: number): boolean {
    const [a, b] = [this.routeOf[recv], this.routeOf[send]];
    if (a === undefined || b === undefined || a === b) return false;
    if (this.messages[recv]?.part !== this.messages[send]?.part) return false;
    if (a.directive !== undefined && b.directive !== undefined && a.directive !== b.directive) return false;
    const channel = a.directive ?? b.directive;
    return channel === undefined || this.directed.allows(newlyDirected(a, b, { rank, recv, send }), channel);
  }

  join(rank: number, recv: number, send: number): void {
    const [a, b] = [this.routeOf[recv], this.routeOf[send]];
    if (a === undefined || b === undefined) return;
    const joint = { rank, recv, send };
    const channel = a.directive ?? b.directive;
    if (channel !== undefined) this.directed.add(newlyDirected(a, b, joint), channel);
    // The longer one takes up the shorter one, so that long chains stay cheap.
    const [whole, added] = a.messages.length >= b.messages.length ? [a, b] : [b, a];
    whole.first = Math.min(a.first, b.first);
    whole.directive = channel;
    whole.joints.push(...added.joints, joint);
    for (const message of added.messages) {
      whole.messages.push(message);
      this.routeOf[message] = whole;
    }
  }

  /** In the order of their first messages. */
  all(): Route[] {
    return [...new Set(this.routeOf)].sort((a, b) => a.first - b.first);
  }
}

/** Joints that weren't bound to a channel before two routes, one of them directed, became one. */
function newlyDirected(a: Route, b: Route, joint: Joint): Joint[] {
  return [...(a.directive === undefined ? a.joints : []), ...(b.directive === undefined ? b.joints : []), joint];
}
