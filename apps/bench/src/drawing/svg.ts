/** Escapes text for SVG. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

export interface SvgPage {
  readonly width: number;
  readonly height: number;
  readonly title: string;
  readonly subtitle: string;
  /** What the colours and lines mean. */
  readonly legend: readonly LegendEntry[];
  /** Drawn from (0, 0) on, below the title. */
  readonly body: string;
}

export interface LegendEntry {
  readonly text: string;
  readonly color: string;
  readonly kind: "box" | "line" | "dashes";
}

const margin = 32;
const head = 96;
const leastWidth = 560;

/** A page with a title, a legend and a drawing: readable on white paper and on a screen. */
export function svgPage({ width, height, title, subtitle, legend, body }: SvgPage): string {
  const legendWidth = legend.reduce((sum, { text }) => sum + 46 + 6.2 * text.length, 0);
  const titleWidth = Math.max(11 * title.length, 6.6 * subtitle.length);
  const pageWidth = Math.ceil(Math.max(width, leastWidth, legendWidth, titleWidth) + 2 * margin);
  const pageHeight = Math.ceil(height + head + margin);
  let x = margin;
  const entries = legend.map(({ text, color, kind }) => {
    const mark =
      kind === "box"
        ? `<rect x="${x}" y="68" width="16" height="12" rx="3" fill="${color}"/>`
        : `<path d="M${x} 74h20" stroke="${color}" stroke-width="2"${kind === "dashes" ? ' stroke-dasharray="4 3"' : ""}/>`;
    const entry = `${mark}<text x="${x + 26}" y="78" class="legend">${escaped(text)}</text>`;
    x += 46 + 6.2 * text.length;
    return entry;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${pageWidth} ${pageHeight}" width="${pageWidth}" height="${pageHeight}" role="img">
<title>${escaped(title)}: ${escaped(subtitle)}</title>
<style>
text { font-family: ui-sans-serif, system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2933; }
.title { font-size: 20px; font-weight: 600; } .subtitle { font-size: 12px; fill: #52606d; } .legend { font-size: 11px; fill: #3e4c59; }
.op { font-size: 12px; font-weight: 600; text-anchor: middle; } .what { font-size: 10.5px; text-anchor: middle; fill: #3e4c59; }
.row { font-size: 11px; text-anchor: end; fill: #3e4c59; } .rank { font-size: 13px; font-weight: 600; } .tick { font-size: 10px; text-anchor: middle; fill: #9aa5b1; }
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0.5 8 4 0 7.5z" fill="context-stroke"/></marker></defs>
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="${margin}" y="36" class="title">${escaped(title)}</text>
<text x="${margin}" y="55" class="subtitle">${escaped(subtitle)}</text>
${entries.join("\n")}
<g transform="translate(${margin} ${head})">
${body}
</g>
</svg>
`;
}

/** Fill of a rank's boxes: even steps around the colour wheel, light enough for dark text. */
export function rankColor(rank: number, ranks: number): string {
  return `hsl(${Math.round((360 * rank) / Math.max(1, ranks) + 205) % 360} 70% 86%)`;
}

/** A darker shade for a rank's borders and lines. */
export function rankLineColor(rank: number, ranks: number): string {
  return `hsl(${Math.round((360 * rank) / Math.max(1, ranks) + 205) % 360} 45% 48%)`;
}
