import { defineConfig } from "tsup";

export default defineConfig([
  {
    entry: ["src/cli.ts", "src/index.ts", "src/launch-watcher.ts", "src/bins/*.ts"],
    format: ["esm"],
    dts: { entry: "src/index.ts" },
    sourcemap: true,
    // Everything but what the other build makes at the same time.
    clean: ["dist/**", "!dist/report-client.js"],
    target: "node20",
  },
  {
    // What draws in a report, with the charting library in it: the report carries it along.
    entry: { "report-client": "src/report/client/draw.ts" },
    format: ["iife"],
    outExtension: () => ({ js: ".js" }),
    platform: "browser",
    noExternal: [/.*/],
    minify: true,
    target: "es2022",
  },
]);
