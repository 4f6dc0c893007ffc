import { defineConfig } from "tsup";

export default defineConfig({
  // Beside the API: what its worker threads load, by the names that src/worker-file.ts gives them.
  entry: [
    "src/index.ts",
    "src/rank-thread.ts",
    "src/training-rank.ts",
    "src/loader-thread.ts",
    "src/hand-off-thread.ts",
    "src/synthetic-rank.ts",
  ],
  format: ["esm"],
  dts: { entry: "src/index.ts" },
  sourcemap: true,
  clean: true,
  target: "node20",
});
