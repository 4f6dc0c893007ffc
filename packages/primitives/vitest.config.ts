import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  // Sources instead of a build in the README's examples, so that tests never see a stale one.
  resolve: { alias: { "@dfccl/primitives": fileURLToPath(new URL("src/index.ts", import.meta.url)) } },
  // One module graph for all files: a process each costs most files more than their tests, and these leave nothing behind.
  test: { name: "primitives", include: ["test/**/*.test.ts"], isolate: false, testTimeout: 60_000 },
});
