import { describe, expect, it } from "vitest";
import { bars, line, plot } from "../../src/charts/chart.js";
import { htmlReport } from "../../src/charts/html-report.js";
import { renderSvg } from "../../src/charts/render-svg.js";
import { figureChart } from "../../src/simulate/deadlock-charts.js";

const chart = plot({
  name: "curve",
  title: "One <curve> & more",
  x: { name: "x", type: "log" },
  y: { name: "y" },
  series: [
    line("a", [
      [1, 2],
      [10, 3],
    ]),
  ],
});

describe("a chart", () => {
  it("is plain data: nothing of it is lost as JSON", () => {
    for (const each of [
      chart,
      bars({ name: "b", title: "b", categories: ["x"], valueName: "ms", series: [{ name: "s", values: [null] }] }),
    ]) {
      expect(JSON.parse(JSON.stringify(each))).toEqual(each);
    }
  });

  it("as SVG has a title that says what it shows", () => {
    expect(renderSvg(chart)).toMatch(/^<svg [^>]*role="img">\n<title>One &lt;curve&gt; &amp; more<\/title>[\s\S]*<\/svg>\n$/);
  });

  it("leaves out what can't be on a log axis, and has the paper's points", () => {
    const point = (x: number, ratio: number) => ({ x, ratio, rounds: 10, deadlocks: 10 * ratio, interval: [0, 1] as const });
    const { option } = figureChart(
      {
        title: "ratio",
        xName: "p",
        curves: [{ name: "ours", points: [point(1e-3, 0), point(1e-2, 0.5)] }],
        published: [{ name: "ours", x: 1e-2, ratio: 0.4 }],
      },
      "ratio",
    );
    expect(option.series).toMatchObject([
      { type: "line", name: "ours", data: [{ name: "0.01: 50%", value: [-2, 50] }] },
      { type: "scatter", name: "paper: ours", data: [{ name: "0.01: 40%", value: [-2, 40] }] },
    ]);
  });
});

describe("a report", () => {
  const html = htmlReport({
    title: "A & B",
    lead: "<lead>",
    sections: [
      { heading: "Curve", chart },
      { heading: "Table", table: { header: ["what", "value"], rows: [["<x>", "1"]] } },
      { heading: "Drawing", svg: "<svg/>" },
    ],
    madeBy: "dfccl",
  });

  it("needs no other file", () => {
    const markup = html.replaceAll(/<script[^>]*>[\s\S]*?<\/script>/g, "");
    expect(markup.length).toBeLessThan(20_000);
    expect(markup).not.toMatch(/<(?:script|link|img)[^>]+(?:src|href)="(?!data:)/);
    expect(markup).toContain(`src="data:image/svg+xml;base64,${Buffer.from("<svg/>").toString("base64")}"`);
  });

  it("escapes what it is given, and holds each chart drawn and as data", () => {
    expect(html).toContain("<h1>A &amp; B</h1>");
    expect(html).toContain("<td>&lt;x&gt;</td><td>1</td>");
    expect(html).toMatch(/<figure data-chart="curve"[^>]*>\n<svg /);
    const [, data = ""] = /<script id="charts" type="application\/json">(.*)<\/script>/.exec(html) ?? [];
    expect(JSON.parse(data)).toMatchObject([{ name: "curve", option: { series: [{ name: "a" }] } }]);
  });
});
