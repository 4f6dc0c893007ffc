import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  // Sources instead of builds, so that tests run without one and never see a stale one.
  resolve: {
    alias: { "@dfccl/primitives": source("../primitives/src/index.ts"), "@dfccl/collective-tests": source("src/index.ts") },
  },
  test: { name: "collective-tests", include: ["test/**/*.test.ts"] },
});
