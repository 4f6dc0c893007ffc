import { type LocalChunk, type Op, type Program, type Step, stepOrder } from "@dfccl/primitives";
import { escaped, type LegendEntry, rankLineColor, svgPage } from "./svg.js";

interface Box {
  readonly row: number;
  readonly time: number;
  readonly step: Step;
}

const cellWidth = 132;
const boxWidth = 92;
const cellHeight = 36;
const rowGap = 12;
const rankGap = 22;
const left = 120;

const looks: Readonly<Record<"moves" | "reduces" | "ends", { fill: string; line: string; text: string }>> = {
  moves: { fill: "#d6e4f5", line: "#5f8fc4", text: "moves data" },
  reduces: { fill: "#fde3c4", line: "#d08a2e", text: "reduces" },
  ends: { fill: "#d9efd9", line: "#5ba25b", text: "finishes a reduction" },
};

/**
 * Draws which block does what and when, if every step took one unit of time: rows are blocks, lines messages, dashed
 * ones waits between blocks of a rank.
 */
export function drawSchedule(name: string, program: Program): string {
  const rows = program.ranks.flatMap(({ blocks }, rank) => blocks.map((_, block) => ({ rank, block })));
  const rowOf = new Map(rows.map(({ rank, block }, row) => [`${rank} ${block}`, row]));
  const boxes = placeSteps(program, rowOf);
  const y = (row: number): number => row * (cellHeight + rowGap) + (rows[row]?.rank ?? 0) * rankGap;
  const x = (time: number): number => left + time * cellWidth;
  // Not by Math.max(...): a call takes some hundred thousand arguments at most.
  const lastTime = [...boxes.values()].reduce((last, { time }) => Math.max(last, time), 0);
  const width = x(lastTime) + boxWidth;
  const height = rows.length === 0 ? 0 : y(rows.length - 1) + cellHeight;

  const parts: string[] = [];
  for (const [row, { rank, block }] of rows.entries()) {
    if (block === 0) parts.push(`<text x="0" y="${y(row) + 23}" class="rank">rank ${rank}</text>`);
    parts.push(`<text x="${left - 14}" y="${y(row) + 23}" class="row">block ${block}</text>`);
    parts.push(`<path d="M${left} ${y(row) + cellHeight / 2}H${width}" stroke="#e9ecef"/>`);
  }
  for (let time = 0; time <= lastTime; time += 1) parts.push(`<text x="${x(time) + boxWidth / 2}" y="-8" class="tick">${time}</text>`);
  for (const { row, time, step } of boxes.values()) {
    const look = looks[step.finish ? "ends" : reduces(step.op) ? "reduces" : "moves"];
    parts.push(
      `<g transform="translate(${x(time)} ${y(row)})"><rect width="${boxWidth}" height="${cellHeight}" rx="6" fill="${look.fill}" stroke="${look.line}"/>` +
        `<text x="${boxWidth / 2}" y="15" class="op">${shortNames[step.op]}</text><text x="${boxWidth / 2}" y="29" class="what">${escaped(operands(step))}</text></g>`,
    );
  }
  const line = (from: Box, to: Box, style: string): string => {
    const [x1, y1] = [x(from.time) + boxWidth, y(from.row) + cellHeight / 2];
    const [x2, y2] = [x(to.time), y(to.row) + cellHeight / 2];
    const bend = Math.max(26, (x2 - x1) / 2);
    return `<path d="M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}" fill="none" ${style} marker-end="url(#tip)"/>`;
  };
  for (const [from, to] of messagesOf(program, boxes))
    parts.push(line(from, to, `stroke="${rankLineColor(rows[from.row]?.rank ?? 0, program.ranks.length)}" stroke-width="1.6"`));
  for (const [key, box] of boxes) {
    const rank = Number(key.split(" ")[0]);
    for (const { block, step } of box.step.dependsOn ?? []) {
      const awaited = boxes.get(`${rank} ${block} ${step}`);
      if (awaited !== undefined) parts.push(line(awaited, box, 'stroke="#7b8794" stroke-width="1.3" stroke-dasharray="4 3"'));
    }
  }
  const legend: LegendEntry[] = [
    ...Object.values(looks).map(({ fill, text }): LegendEntry => ({ text, color: fill, kind: "box" })),
    { text: "message, in the colour of its sender", color: rankLineColor(0, program.ranks.length), kind: "line" },
    { text: "wait within a rank", color: "#7b8794", kind: "dashes" },
  ];
  const subtitle = `${rows.length} blocks of ${program.ranks.length} ranks, ${boxes.size} steps in ${lastTime + 1} rounds, if each took one`;
  return svgPage({
    title: `${name}: schedule`,
    subtitle,
    width,
    height,
    legend,
    body: `<g transform="translate(0 14)">${parts.join("\n")}</g>`,
  });
}

/** Short names, as GC3 and MSCCL have them. */
const shortNames: Readonly<Record<Op, string>> = {
  nop: "nop",
  send: "send",
  recv: "recv",
  copy: "copy",
  reduce: "reduce",
  recvCopySend: "rcs",
  recvReduceCopy: "rrc",
  recvReduceSend: "rrs",
  recvReduceCopySend: "rrcs",
  multiReduceCopy: "sum",
};

function reduces(op: Op): boolean {
  return op.includes("educe");
}

function operands({ src, dst, sources, destinations, count }: Step): string {
  const name = ({ buffer, chunk }: LocalChunk): string =>
    `${{ input: "in", output: "out", scratch: "tmp" }[buffer]} ${count > 1 ? `${chunk}–${chunk + count - 1}` : chunk}`;
  if (sources !== undefined) return `${sources.length} → ${destinations?.map(name).join(", ")}`;
  if (src !== undefined && dst !== undefined && (src.buffer !== dst.buffer || src.chunk !== dst.chunk))
    return `${name(src)} → ${name(dst)}`;
  const only = dst ?? src;
  return only === undefined ? "" : name(only);
}

/** The earliest round of each step. */
function placeSteps(program: Program, rowOf: ReadonlyMap<string, number>): Map<string, Box> {
  const boxes = new Map<string, Box>();
  const lastOf = new Map<number, number>();
  const arrived = new Map<string, number[]>();
  for (const { rank, block, step: index } of stepOrder(program)) {
    const step = program.ranks[rank]?.blocks[block]?.steps[index];
    const row = rowOf.get(`${rank} ${block}`);
    if (step === undefined || row === undefined) continue;
    const message = step.recv && arrived.get(`${step.recv.peer} ${rank} ${step.recv.channel}`)?.shift();
    const waits = (step.dependsOn ?? []).map((other) => boxes.get(`${rank} ${other.block} ${other.step}`)?.time ?? -1);
    const time = 1 + Math.max(-1, lastOf.get(row) ?? -1, message ?? -1, ...waits);
    boxes.set(`${rank} ${block} ${index}`, { row, time, step });
    lastOf.set(row, time);
    if (step.send !== undefined) {
      const key = `${rank} ${step.send.peer} ${step.send.channel}`;
      arrived.set(key, [...(arrived.get(key) ?? []), time]);
    }
  }
  return boxes;
}

/** Each send with its receive: the n-th of a connection with the n-th. */
function messagesOf(program: Program, boxes: ReadonlyMap<string, Box>): [Box, Box][] {
  const sent = new Map<string, Box[]>();
  const received = new Map<string, Box[]>();
  program.ranks.forEach(({ blocks }, rank) => {
    blocks.forEach(({ steps }, block) => {
      steps.forEach(({ send, recv }, index) => {
        const box = boxes.get(`${rank} ${block} ${index}`);
        if (box === undefined) return;
        if (send) add(sent, `${rank} ${send.peer} ${send.channel}`, box);
        if (recv) add(received, `${recv.peer} ${rank} ${recv.channel}`, box);
      });
    });
  });
  return [...sent].flatMap(([key, boxesOfKey]) =>
    boxesOfKey.flatMap((box, i): [Box, Box][] => {
      const other = received.get(key)?.[i];
      return other === undefined ? [] : [[box, other]];
    }),
  );
}

function add(lists: Map<string, Box[]>, key: string, box: Box): void {
  lists.set(key, [...(lists.get(key) ?? []), box]);
}
