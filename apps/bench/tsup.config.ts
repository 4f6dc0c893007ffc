import { cpSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { defineConfig, type Options } from "tsup";

const library = "chart-library.js";
const bundled = [library, "chart-client.js", "report-client.js", "licenses/**"];

/** For browsers, with all that it needs in one file, which a page carries along. */
const forBrowsers: Options = {
  format: ["iife"],
  outExtension: () => ({ js: ".js" }),
  platform: "browser",
  noExternal: [/.*/],
  minify: true,
  target: "es2022",
};

/** The charting library's parts are in what ships, so its licences are, too. */
async function copyLicenses(): Promise<void> {
  const charts = dirname(createRequire(import.meta.url).resolve("echarts/package.json"));
  const canvas = dirname(createRequire(join(charts, "package.json")).resolve("zrender/package.json"));
  for (const [name, folder, file] of [
    ["echarts-LICENSE", charts, "LICENSE"],
    ["echarts-NOTICE", charts, "NOTICE"],
    ["zrender-LICENSE", canvas, "LICENSE"],
  ] as const) {
    cpSync(join(folder, file), join("dist", "licenses", name));
  }
}

export default defineConfig([
  {
    entry: ["src/cli.ts", "src/index.ts", "src/internal/measurement.ts", "src/launch-watcher.ts", "src/stages-thread.ts", "src/bins/*.ts"],
    format: ["esm"],
    dts: { entry: ["src/index.ts", "src/internal/measurement.ts"] },
    sourcemap: true,
    // Everything but what the other builds make at the same time.
    clean: ["dist/**", ...bundled.map((path) => `!dist/${path}`)],
    target: "node20",
    esbuildPlugins: [
      {
        name: "chart library apart",
        setup: (build) => build.onResolve({ filter: /\/chart-library\.js$/ }, () => ({ path: `./${library}`, external: true })),
      },
    ],
  },
  {
    entry: { "chart-library": "src/charts/chart-library.ts" },
    format: ["esm"],
    noExternal: [/.*/],
    minify: true,
    target: "node20",
    onSuccess: copyLicenses,
  },
  { ...forBrowsers, entry: { "report-client": "src/report/client/draw.ts", "chart-client": "src/charts/client.ts" } },
]);
