import { type Box, type Boxing, type BoxingStep, boxOf, formatSbp, type Layout } from "@dfccl/actor";
import { escaped, rankColor, rankLineColor, svgPage } from "./svg.js";

const cell = 76;
const rowHeight = 104;
const columnWidth = 250;
const labelWidth = 70;
const partialPattern = "summand";

/**
 * A boxing as columns of layouts: for each rank the whole tensor as an outline, its own part filled, hatched where it is a
 * summand. Between columns the step that leads on, with a line for each part that goes from rank to rank.
 */
export function drawBoxing(boxing: Boxing): string {
  const layouts = [boxing.from, ...boxing.steps.map(({ to }) => to)];
  const ranks = [...new Set(layouts.flatMap(({ placement }) => placement.ranks))].sort((a, b) => a - b);
  const y = (rank: number): number => 40 + ranks.indexOf(rank) * rowHeight;
  const x = (column: number): number => labelWidth + column * columnWidth;
  const parts = [
    `<defs><pattern id="${partialPattern}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V6" stroke="#1f2933" stroke-width="1.4" opacity="0.45"/></pattern></defs>`,
    ...ranks.map((rank) => `<text x="${labelWidth - 14}" y="${y(rank) + cell / 2 + 4}" class="row">rank ${rank}</text>`),
    ...layouts.map((layout, column) => drawLayout(layout, x(column), y, ranks.length)),
    ...boxing.steps.map((step, column) => drawStep(step, x(column) + cell, x(column + 1), y, ranks)),
  ];
  const { from, to } = boxing;
  return svgPage({
    width: x(layouts.length - 1) + cell + 20,
    height: 40 + ranks.length * rowHeight,
    title: `${formatSbp(from.sbp)} → ${formatSbp(to.sbp)}`,
    subtitle: `A tensor of [${from.shape.join(", ")}] on ranks ${from.placement.ranks.join(", ")}, wanted on ${to.placement.ranks.join(", ")}: ${describeCost(boxing)}`,
    legend: [
      { text: "a rank's part", color: rankColor(0, ranks.length), kind: "box" },
      { text: "hatched: a summand", color: "#9aa5b1", kind: "box" },
      { text: "goes from rank to rank", color: rankLineColor(0, ranks.length), kind: "line" },
    ],
    body: parts.join("\n"),
  });
}

function describeCost({ steps, cost }: Boxing): string {
  if (steps.length === 0) return "it lies there already";
  return `${cost <= steps.length && steps.every(({ kind }) => kind === "copies") ? "nothing" : `${cost} bytes`} moved`;
}

function drawLayout(layout: Layout, left: number, y: (rank: number) => number, count: number): string {
  const isPartial = layout.sbp.some(({ kind }) => kind === "partial");
  const title = `<text x="${left + cell / 2}" y="14" class="op">${escaped(formatSbp(layout.sbp))}</text>`;
  const tensors = layout.placement.ranks.map((rank, member) => {
    const { x, top, width, height } = areaOf(boxOf(layout, member), layout.shape, left, y(rank));
    const area = `x="${x}" y="${top}" width="${width}" height="${height}"`;
    return [
      `<rect x="${left}" y="${y(rank)}" width="${cell}" height="${cell}" fill="#f8fafc" stroke="#cbd2d9"/>`,
      `<rect ${area} fill="${rankColor(rank, count)}" stroke="${rankLineColor(rank, count)}"/>`,
      isPartial ? `<rect ${area} fill="url(#${partialPattern})"/>` : "",
    ].join("");
  });
  return [title, ...tensors].join("\n");
}

/** Rows go down, columns to the right; a tensor of one axis is a row. */
function areaOf(box: Box, shape: readonly number[], left: number, top: number): { x: number; top: number; width: number; height: number } {
  const [rows, columns] = shape.length === 1 ? [undefined, 0] : [0, 1];
  const span = (axis: number | undefined): readonly [number, number] => {
    const range = axis === undefined ? undefined : box[axis];
    const extent = axis === undefined ? 1 : (shape[axis] ?? 1);
    return range === undefined ? [0, cell] : [(cell * range.from) / extent, (cell * (range.to - range.from)) / extent];
  };
  const [[y, height], [x, width]] = [span(rows), span(columns)];
  return { x: left + x, top: top + y, width, height };
}

function drawStep(step: BoxingStep, from: number, to: number, y: (rank: number) => number, ranks: readonly number[]): string {
  const middle = (from + to) / 2;
  const links =
    step.kind === "copies" ? step.copies.map(({ fromRank, toRank }) => [fromRank, toRank] as const) : step.groups.flatMap(linksOf);
  const lines = [...new Set(links.map(([a, b]) => `${a} ${b}`))].map((link) => {
    const [a = 0, b = 0] = link.split(" ").map(Number);
    const [start, end] = [y(a) + cell / 2, y(b) + cell / 2];
    const isLocal = a === b ? ' opacity="0.35"' : "";
    return `<path d="M${from + 8} ${start}C${middle} ${start} ${middle} ${end} ${to - 8} ${end}" fill="none" stroke="${rankLineColor(a, ranks.length)}" stroke-width="1.5" marker-end="url(#tip)"${isLocal}/>`;
  });
  const title = step.kind === "copies" ? (links.every(([a, b]) => a === b) ? "local copies" : "slice copies") : step.collective;
  const details =
    step.kind === "collective"
      ? [step.isPacked ? "packed before" : "", step.isUnpacked ? "unpacked after" : ""].filter(Boolean).join(", ")
      : "";
  return [
    ...lines,
    `<text x="${middle}" y="14" class="op">${title}</text>`,
    details === "" ? "" : `<text x="${middle}" y="29" class="what">${details}</text>`,
  ].join("\n");
}

/** Everybody of a group hears of everybody. */
function linksOf(group: readonly number[]): (readonly [number, number])[] {
  return group.flatMap((a) => group.map((b) => [a, b] as const));
}
