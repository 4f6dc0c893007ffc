import type { WorldStatus } from "@dfccl/core";
import { out } from "../terminal/colors.js";
import { formatBytes, formatCountOf, formatSeconds, formatTable } from "../terminal/table.js";
import { wrap } from "../terminal/wrap.js";

type Collective = WorldStatus["collectives"][number];
type Member = Collective["members"][number];

// More than that, and somebody should look.
const longMs = 10_000;
const mostShown = 20;

/** Something has waited for long, or a rank is gone that somebody may wait for. */
export function isStuck(world: WorldStatus): boolean {
  return world.ranks.some(({ presence }) => presence === "died" || presence === "mute") || longestMs(world) > longMs;
}

/** A world as text: its ranks in a table, then what is in flight, the longest first. */
export function describeWorld(world: WorldStatus): string {
  const { job, ranks, collectives, memoryBytes } = world;
  const flying = collectives.filter((one) => !one.aborted && inFlight(one).length > 0).sort((a, b) => waitingMs(b) - waitingMs(a));
  const head = `${out.bold(job)}: ${formatCountOf(ranks.length, "rank")}, ${formatCountOf(collectives.length, "collective")}, ${formatBytes(memoryBytes)} shared`;
  const rows = ranks.map(({ rank, pid, presence }) => {
    const own = collectives.flatMap(({ members }) => members.filter((member) => member.rank === rank));
    const under = own.reduce((sum, { submitted, finished }) => sum + submitted - finished, 0);
    const longest = Math.max(0, ...own.map((member) => member.waitingMs));
    return [String(rank), String(pid), presence, String(under), longest > 0 ? formatSeconds(longest / 1000) : "–"];
  });
  const table = formatTable(rows, ["rank", "process", "is", "in flight", "longest"]);
  const lines = flying.slice(0, mostShown).map((one) => wrap(describe(one, world)));
  const more = flying.length > mostShown ? [`… and ${flying.length - mostShown} more in flight`] : [];
  return [head, table, ...lines, ...more].join("\n");
}

function describe(one: Collective, { ranks }: WorldStatus): string {
  const run = Math.min(...inFlight(one).map(({ finished }) => finished));
  const missing = one.members.filter((member) => member.submitted <= run);
  const time = waitingMs(one) > 0 ? `, for ${formatSeconds(waitingMs(one) / 1000)}` : "";
  const why = missing.map(({ rank, registered }) => {
    const presence = ranks[rank]?.presence ?? "absent";
    if (presence !== "joined") return `rank ${rank}, which is ${presence === "died" ? "dead" : presence}`;
    return `rank ${rank}, which hasn't ${registered ? "submitted" : "registered"} it`;
  });
  const what = why.length > 0 ? `waits for ${why.join("; ")}` : "is under way on every rank";
  return `${one.name}, run ${run}${time}: ${what}`;
}

function inFlight({ members }: Collective): Member[] {
  return members.filter(({ submitted, finished }) => submitted > finished);
}

function waitingMs({ members }: Collective): number {
  return Math.max(0, ...members.map((member) => member.waitingMs));
}

function longestMs({ collectives }: WorldStatus): number {
  return Math.max(0, ...collectives.filter(({ aborted }) => !aborted).map(waitingMs));
}
