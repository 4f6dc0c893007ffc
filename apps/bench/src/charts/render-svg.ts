import { escaped } from "../drawing/svg.js";
import { type Chart, chartWidth, styled } from "./chart.js";
import { init } from "./chart-library.js";

/** Draws a chart. It says what it shows to those who can't see it. */
export function renderSvg(chart: Chart): string {
  const drawn = init(null, null, { renderer: "svg", ssr: true, width: chartWidth, height: chart.height });
  try {
    drawn.setOption(styled(chart));
    const svg = drawn.renderToSVGString();
    return `${svg.replace(/^<svg [^>]*>/, (opening) => `${opening.slice(0, -1)} role="img">\n<title>${escaped(chart.title)}</title>`)}\n`;
  } finally {
    drawn.dispose();
  }
}
