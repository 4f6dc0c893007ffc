import type { DeadlockTimeline, TimelineGpu } from "@dfccl/simulator";
import { escaped, svgPage } from "./svg.js";

const labelWidth = 190;
const tickWidth = 46;
const rowHeight = 17;
const barHeight = 11;
const laneGap = 16;
const colors = { executing: "#86c99a", stuck: "#2f855a", invoked: "#f2d16b", barrier: "#d64545" };

/** What GPUs did around a deadlock: a lane for each, a row for each collective, from its invocation to its success. */
export function drawTimeline({ round, model, gpus, endAt }: DeadlockTimeline): string {
  const right = labelWidth + endAt * tickWidth;
  const x = (tick: number): number => labelWidth + tick * tickWidth;
  const parts: string[] = [];
  let y = 0;
  for (const gpu of gpus) {
    parts.push(lane(gpu, y, right, endAt, x));
    y += Math.max(gpu.parts.length, 1) * rowHeight + laneGap;
  }
  const ticks = Array.from({ length: endAt + 1 }, (_, tick) => `<text x="${x(tick)}" y="${y + 6}" class="tick">${tick}</text>`);
  return svgPage({
    width: right,
    height: y + 16,
    title: `Round ${round}: how it deadlocks`,
    subtitle:
      `${model === "synchronization" ? "Synchronization model" : "Single-queue model: one executes, the others wait"}. GPUs go at the same speed, one action a tick; ` +
      "all groups of the circle are shown, some entries before and after it. Bold: what waits in a circle.",
    legend: [
      { text: "executing, then successful", color: colors.executing, kind: "box" },
      { text: "executing for ever", color: colors.stuck, kind: "box" },
      { text: "invoked, waiting", color: colors.invoked, kind: "box" },
      ...(model === "synchronization" ? [{ text: "in a synchronization", color: colors.barrier, kind: "dashes" as const }] : []),
    ],
    body: [...parts, ...ticks].join("\n"),
  });
}

function lane({ gpu, parts, barriers }: TimelineGpu, y: number, right: number, endAt: number, x: (tick: number) => number): string {
  const height = Math.max(parts.length, 1) * rowHeight;
  const rows = parts.map(({ collective, isOfCycle, invokedAt, executingAt, successfulAt }, row) => {
    const top = y + row * rowHeight + (rowHeight - barHeight) / 2;
    const bar = (from: number, to: number, color: string): string =>
      to <= from ? "" : `<rect x="${x(from)}" y="${top}" width="${x(to) - x(from)}" height="${barHeight}" rx="2" fill="${color}"/>`;
    const label = `${collective.group} #${collective.index}`;
    return [
      `<text x="${labelWidth - 10}" y="${top + barHeight - 2}" class="row"${isOfCycle ? ' font-weight="700"' : ""}>${escaped(label)}</text>`,
      bar(invokedAt, executingAt ?? endAt, colors.invoked),
      executingAt === undefined
        ? ""
        : bar(executingAt, successfulAt ?? endAt, successfulAt === undefined ? colors.stuck : colors.executing),
    ].join("");
  });
  const walls = barriers.map(({ at, until = endAt }) => {
    const wait =
      until > at + 1
        ? `<rect x="${x(at)}" y="${y}" width="${x(until) - x(at)}" height="${height}" fill="${colors.barrier}" opacity="0.08"/>`
        : "";
    return `${wait}<path d="M${x(at)} ${y}V${y + height}" stroke="${colors.barrier}" stroke-width="2" stroke-dasharray="4 3"/>`;
  });
  return [
    `<text x="0" y="${y + 14}" class="rank">GPU ${gpu}</text>`,
    ...rows,
    ...walls,
    `<path d="M0 ${y + height + laneGap / 2}H${right}" stroke="#e4e7eb"/>`,
  ].join("\n");
}
