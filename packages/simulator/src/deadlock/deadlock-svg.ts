import { collectiveText, type DeadlockExplanation, readExplanation } from "./explain.js";

const column = 190;
const [boxWidth, boxHeight] = [136, 40];
const [top, left] = [70, 40];
const gap = 96; // between the two boxes of a GPU

/**
 * A drawing of a deadlock in the manner of the paper's Fig. 2: for each GPU of the cycle what executes (green), what holds up
 * the rest (red), and what is invoked (yellow); arrows point at what something waits for.
 * @throws {InvalidArgumentError} for what isn't an explanation.
 */
export function deadlockSvg(explanation: DeadlockExplanation): string {
  const { cycle, round, model } = readExplanation(explanation);
  const width = 2 * left + cycle.length * column - (column - boxWidth);
  const height = top + 2 * boxHeight + gap + 124;
  const x = (i: number): number => left + i * column;
  const low = top + boxHeight + gap;
  const parts = cycle.flatMap(({ gpu, executes, invoked }, i) => {
    const middle = x(i) + boxWidth / 2;
    const last = i === cycle.length - 1;
    const bar = top + boxHeight + gap / 2;
    return [
      `<text x="${middle}" y="${top - 18}" class="gpu">GPU ${gpu}</text>`,
      box(x(i), top, "executing", collectiveText(executes)),
      `<rect x="${x(i) - 6}" y="${bar - 4}" width="${boxWidth + 12}" height="8" rx="2" class="barrier"/>`,
      box(x(i), low, "invoked", collectiveText(invoked)),
      // What is invoked waits for what executes on the same GPU …
      `<path d="M ${middle - 34} ${low} V ${top + boxHeight + 6}" class="wait"/>`,
      // … and that for its counterpart on the next GPU; the last one goes back to the first, around below.
      last
        ? `<path d="M ${middle + 34} ${top + boxHeight} V ${bar + 24} H ${x(i) + boxWidth + 22} V ${low + boxHeight + 30} H ${x(0) + boxWidth / 2} V ${low + boxHeight + 6}" class="wait"/>`
        : `<path d="M ${middle + 34} ${top + boxHeight} L ${x(i + 1) - 4} ${low + boxHeight / 2 - 6}" class="wait"/>`,
    ];
  });
  const fullWidth = Math.max(width + 24, 440);
  const barrier = model === "synchronization" ? "synchronization" : "one executes at a time";
  const captions = [`Round ${round}: arrows point at what has to happen first.`, `Green executes, yellow is invoked, red: ${barrier}.`];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${fullWidth} ${height}" width="${fullWidth}" height="${height}" role="img">
<title>A deadlock of ${cycle.length} GPUs in round ${round}: what executes, what is invoked, and what waits for what</title>
<style>
  text { font: 14px system-ui, sans-serif; fill: #1f2937; text-anchor: middle }
  .gpu { font-weight: 600 } .caption { font-size: 13px; fill: #4b5563; text-anchor: start }
  .executing { fill: #bbf7d0; stroke: #15803d } .invoked { fill: #fef08a; stroke: #a16207 } .barrier { fill: #dc2626 }
  .wait { fill: none; stroke: #374151; stroke-width: 1.6; marker-end: url(#arrow) }
</style>
<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path d="M 0 0 L 10 5 L 0 10 z" fill="#374151"/></marker></defs>
<rect width="100%" height="100%" fill="#ffffff"/>
${parts.join("\n")}
${captions.map((caption, i) => `<text x="${left}" y="${height - 42 + 20 * i}" class="caption">${caption}</text>`).join("\n")}
</svg>
`;
}

function box(x: number, y: number, kind: string, text: string): string {
  return (
    `<rect x="${x}" y="${y}" width="${boxWidth}" height="${boxHeight}" rx="6" class="${kind}"/>` +
    `<text x="${x + boxWidth / 2}" y="${y + boxHeight / 2 + 5}">${text.replace(/[<&]/g, "")}</text>`
  );
}
