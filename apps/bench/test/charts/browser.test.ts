/// <reference lib="dom" />
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium } from "playwright-core";
import { afterAll, expect, it } from "vitest";
import { bars, line, plot, points } from "../../src/charts/chart.js";
import { htmlReport } from "../../src/charts/html-report.js";
import { findCommand } from "../../src/peers/native-programs.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-charts-"));
let browser: Browser | undefined;
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

// Whatever part of the charting library an option needs must be in what is bundled.
it("draws every kind of chart again where scripts run, with the whole of its options, and asks for nothing", {
  timeout: 120_000,
}, async () => {
  const series = [line("ours", [[1, 2]]), points("theirs", [[1, 3]])];
  const charts = [
    plot({ name: "a", title: "a", x: { name: "x", type: "log" }, y: { name: "y", type: "log", logBase: 2 }, series }),
    bars({ name: "b", title: "b", categories: ["x"], valueName: "ms", series: [{ name: "s", values: [4] }] }),
  ];
  const path = join(folder, "page.html");
  const sections = charts.map((chart) => ({ heading: chart.name, chart }));
  writeFileSync(path, htmlReport({ title: "t", lead: "l", sections, madeBy: "dfccl" }));
  const executablePath = process.env.CHROMIUM ?? findCommand("chromium") ?? findCommand("google-chrome");
  if (executablePath === undefined) throw new Error("Chromium is missing, in which charts are tested. Type: apt-get install chromium");
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const page = await (await browser.newContext({ offline: true })).newPage();
  const problems: string[] = [];
  page.on("console", (message) => problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) problems.push(`asks for ${request.url()}`);
  });
  await page.goto(pathToFileURL(path).href);
  // What the page came with has no instance of the library behind it.
  await page.waitForFunction(
    (count) => document.querySelectorAll("figure [_echarts_instance_], figure[_echarts_instance_]").length === count,
    2,
  );
  expect(await page.locator("figure svg").count()).toBe(charts.length);
  expect(await page.locator("figure svg text").allTextContents()).toEqual(expect.arrayContaining(["ours", "theirs", "s"]));
  expect(problems).toEqual([]);
});
