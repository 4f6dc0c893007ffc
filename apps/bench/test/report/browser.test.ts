/// <reference lib="dom" />
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findCommand } from "../../src/peers/native-programs.js";
import { runCommand } from "../command/run-command.js";
import { perfReport, writeResultFiles } from "./result-files.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-report-"));
const html = join(folder, "report.html");
const problems: string[] = [];
let browser: Browser;
let page: Page;

async function open(colorScheme: "light" | "dark" = "light"): Promise<Page> {
  // Offline: whatever it would load from elsewhere fails, and is a problem.
  const context = await browser.newContext({ colorScheme, offline: true, viewport: { width: 1280, height: 900 } });
  const opened = await context.newPage();
  opened.on("console", (message) => problems.push(message.text()));
  opened.on("pageerror", (error) => problems.push(error.message));
  opened.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) problems.push(`asks for ${request.url()}`);
  });
  await opened.goto(pathToFileURL(html).href);
  await opened.waitForFunction(() => document.body.dataset.drawn !== undefined);
  return opened;
}

beforeAll(async () => {
  const executablePath = process.env.CHROMIUM ?? findCommand("chromium") ?? findCommand("google-chrome");
  if (executablePath === undefined) throw new Error("Chromium is missing, in which reports are tested. Type: apt-get install chromium");
  const files = writeResultFiles(folder);
  const written = await runCommand(["report", files.perf, files.overheads, files.stickiness, "-o", html, "--title", "A <b>test</b>"]);
  expect(written).toMatchObject({ code: 0, stderr: "" });
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  page = await open();
}, 120_000);
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

describe("a report in a browser", () => {
  it("draws every chart, without an error, a message or a request", async () => {
    const charts = await page.locator(".chart").count();
    expect(charts).toBe(6 + 3 + 3);
    expect(await page.locator(".chart svg").count()).toBe(charts);
    expect(await page.locator("body").getAttribute("data-drawn")).toBe(String(charts));
    expect(problems).toEqual([]);
  });

  it("shows what a file holds as text, whatever it is", async () => {
    expect(await page.title()).toBe("A <b>test</b>");
    expect(await page.locator("#section-1 .facts").textContent()).toContain("<script>alert(1)</script>");
  });

  it("has the JSON's figures in its tables and its lines", async () => {
    const cells = await page
      .locator("table[data-chart=section-1-latency] td[data-value]")
      .evaluateAll((all) => all.map((cell) => Number(cell.getAttribute("data-value"))));
    const expected = perfReport.results.flatMap(({ out_of_place, in_place }) =>
      [out_of_place, in_place].flatMap((side) => (side ? [side.time] : [])),
    );
    expect(cells.toSorted((a, b) => a - b)).toEqual(expected.toSorted((a, b) => a - b));
    const drawn = await page.evaluate(() => JSON.parse(document.getElementById("report")?.textContent ?? "").sections[0].charts[0].series);
    expect(drawn.map(({ name, points }: { name: string; points: unknown[] }) => [name, points.length])).toEqual([
      ["cpu, out of place", 4],
      ["mpi, out of place", 4],
      ["cpu, in place", 4],
    ]);
    // 40 preemptions in 20 iterations.
    const preemptions = page.locator("table[data-chart=section-1-preemptions] td[data-value]").first();
    expect(await preemptions.getAttribute("data-value")).toBe("2");
  });

  it("tells the figure under the pointer", async () => {
    const chart = page.locator("#section-1-latency");
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.locator("svg").boundingBox();
    const points = chart.locator("svg path[fill='#fff'], svg path[fill='#ffffff']");
    const dots = await points.evaluateAll((all) =>
      all
        .map((path) => path.getBoundingClientRect())
        .filter(({ width }) => width > 3 && width < 12)
        .map(({ x, y, width }) => [x + width / 2, y + width / 2]),
    );
    expect(box).not.toBeNull();
    let text = "";
    for (const [x = 0, y = 0] of dots) {
      await page.mouse.move(x, y);
      text = (await chart.textContent()) ?? "";
      if (text.includes(" at ")) break;
    }
    expect(text).toMatch(/(cpu|mpi), (out of|in) place[\d.,]+ (µs|ms) at [\d.]+ (B|KiB|MiB)/);
  });

  it("switches a backend off in every chart, by keyboard", async () => {
    const legend = page.locator("#section-1-latency svg text", { hasText: "mpi" });
    expect(await legend.count()).toBe(1);
    await page.getByRole("checkbox", { name: "mpi" }).focus();
    await page.keyboard.press("Space");
    expect(await legend.count()).toBe(0);
    expect(await page.locator("#section-1-busbw svg text", { hasText: "mpi" }).count()).toBe(0);
    expect(await page.locator("#section-1-latency svg text", { hasText: "cpu" }).count()).toBe(2);
    await page.keyboard.press("Space");
    expect(await legend.count()).toBe(1);
  });

  it("is dark where the reader wants it, and light on paper all the same", async () => {
    const dark = await open("dark");
    const paper = (): Promise<string> => dark.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(await paper()).toBe("rgb(20, 23, 29)");
    const pdf = join(folder, "report.pdf");
    await dark.pdf({ path: pdf, format: "A4" });
    expect(readFileSync(pdf).length).toBeGreaterThan(20_000);
    await dark.emulateMedia({ media: "print" });
    expect(await paper()).toBe("rgb(255, 255, 255)");
    expect(problems).toEqual([]);
  });

  it("fits a narrow window", async () => {
    await page.setViewportSize({ width: 420, height: 800 });
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(420);
  });
});

describe("dfccl report", () => {
  it.each([
    ["no file", ["/nowhere.json"], /can't be read: there is no such file/],
    ["something else", [html], /isn't JSON/],
    ["an output that can't be", [join(folder, "perf.json"), "-o", "/nowhere/report.html"], /Nothing can be written into/],
  ])("ends with 2 for %s", async (_, args, message) => {
    const { code, stderr } = await runCommand(["report", ...args]);
    expect(stderr.replaceAll("\n", " ")).toMatch(message);
    expect(code).toBe(2);
  });
});
