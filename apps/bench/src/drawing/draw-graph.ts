import dagre from "@dagrejs/dagre";
import { DfcclError } from "@dfccl/primitives";
import { escaped, type LegendEntry, svgPage } from "./svg.js";

export interface DrawnNode {
  readonly id: number;
  readonly title: string;
  readonly text: string;
  readonly fill: string;
  readonly line: string;
}

export interface DrawnEdge {
  readonly from: number;
  readonly to: number;
  readonly kind: "data" | "reuse" | "message";
}

export interface DrawnGraph {
  readonly title: string;
  readonly subtitle: string;
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
  readonly legend: readonly LegendEntry[];
  /** How to ask for a smaller one, as a sentence. */
  readonly smaller: string;
}

/**
 * What is laid out. The time that this takes grows with the square of the boxes and more: 1,984 boxes with 2,944 lines took a minute on
 * two cores that were busy, and are more than anybody reads.
 */
export const largestGraph = { boxes: 2_000, lines: 4_000 };

/** A graph has too many boxes or lines to be laid out. `facts` has their numbers. */
export class GraphTooLargeError extends DfcclError {
  override readonly code = "GRAPH_TOO_LARGE";

  constructor(title: string, boxes: number, lines: number, remedy: string) {
    const sizes = [boxes, lines, largestGraph.boxes, largestGraph.lines].map((size) => size.toLocaleString("en"));
    super(`${title} has ${sizes[0]} boxes and ${sizes[1]} lines: more than ${sizes[2]} and ${sizes[3]} would take too long to lay out.`, {
      facts: { boxes, lines, mostBoxes: largestGraph.boxes, mostLines: largestGraph.lines },
      remedy,
    });
  }
}

const styles: Readonly<Record<DrawnEdge["kind"], string>> = {
  data: 'stroke="#52606d" stroke-width="1.4"',
  reuse: 'stroke="#b0b8c1" stroke-width="1.2" stroke-dasharray="4 3"',
  message: 'stroke="#d64545" stroke-width="1.8"',
};

/** What the kinds of lines mean, for legends. */
export const edgeLegend: Readonly<Record<DrawnEdge["kind"], LegendEntry>> = {
  data: { text: "data", color: "#52606d", kind: "line" },
  reuse: { text: "reuse of memory", color: "#b0b8c1", kind: "dashes" },
  message: { text: "message", color: "#d64545", kind: "line" },
};

/**
 * Draws a graph in layers, so that lines go downwards.
 * @throws {GraphTooLargeError}
 */
export function drawGraph({ title, subtitle, nodes, edges, legend, smaller }: DrawnGraph): string {
  if (nodes.length > largestGraph.boxes || edges.length > largestGraph.lines)
    throw new GraphTooLargeError(title, nodes.length, edges.length, smaller);
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 18, ranksep: 40, edgesep: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  const height = 42;
  const widthOf = ({ title: name, text }: DrawnNode): number => Math.max(56, 7.6 * name.length + 16, 6.1 * text.length + 18);
  for (const node of nodes) graph.setNode(String(node.id), { width: widthOf(node), height });
  for (const { from, to } of edges) graph.setEdge(String(from), String(to));
  dagre.layout(graph);
  const size = graph.graph() as { width?: number; height?: number };
  const lines = edges.map(({ from, to, kind }) => {
    const { points } = graph.edge(String(from), String(to)) as { points: readonly { x: number; y: number }[] };
    return `<path d="${smooth(points)}" fill="none" ${styles[kind]} marker-end="url(#tip)"/>`;
  });
  const boxes = nodes.map((node) => {
    const { x, y, width } = graph.node(String(node.id)) as { x: number; y: number; width: number };
    return `<g transform="translate(${round(x)} ${round(y)})"><rect x="${round(-width / 2)}" y="${-height / 2}" width="${round(width)}" height="${height}" rx="7" fill="${node.fill}" stroke="${node.line}"/><text y="-3" class="op">${escaped(node.title)}</text><text y="13" class="what">${escaped(node.text)}</text></g>`;
  });
  const finite = (value: number | undefined): number => (Number.isFinite(value) ? (value ?? 0) : 0);
  return svgPage({
    title,
    subtitle,
    legend,
    width: finite(size.width),
    height: finite(size.height),
    body: [...lines, ...boxes].join("\n"),
  });
}

/** A curve through the points that the layout gives. */
function smooth(points: readonly { x: number; y: number }[]): string {
  const [first, ...others] = points;
  if (first === undefined) return "";
  const at = ({ x, y }: { x: number; y: number }): string => `${round(x)} ${round(y)}`;
  const last = others.at(-1) ?? first;
  const middle = others.slice(0, -1).map((point, i) => {
    const next = others[i + 1] ?? last;
    return i === others.length - 2
      ? `Q${at(point)} ${at(last)}`
      : `Q${at(point)} ${at({ x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 })}`;
  });
  return `M${at(first)}${middle.length === 0 ? `L${at(last)}` : middle.join("")}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
