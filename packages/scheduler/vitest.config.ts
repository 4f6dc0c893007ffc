import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  // Sources instead of builds, so that tests run without one and never see a stale one.
  resolve: {
    alias: {
      "@dfccl/primitives": source("../primitives/src/index.ts"),
      "@dfccl/scheduler/tuner": source("src/tuner/index.ts"),
      "@dfccl/scheduler": source("src/index.ts"),
    },
  },
  // One module graph for all files: a process each costs most files more than their tests, and these leave nothing behind.
  test: { name: "scheduler", include: ["test/**/*.test.ts"], isolate: false, testTimeout: 60_000, hookTimeout: 60_000 },
});
