import { defineConfig } from "tsup";

export default defineConfig({
  // The worker is a file of its own, because a thread starts from a file.
  entry: { index: "src/index.ts", "deadlock-worker": "src/deadlock/deadlock-worker.ts" },
  format: ["esm"],
  dts: { entry: "src/index.ts" },
  sourcemap: true,
  clean: true,
  target: "node20",
});
