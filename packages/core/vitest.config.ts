import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  // Sources instead of a build in the README's examples, so that tests never see a stale one.
  resolve: { alias: { "@dfccl/core": fileURLToPath(new URL("src/index.ts", import.meta.url)) } },
  test: { name: "core", include: ["test/**/*.test.ts"], isolate: false, testTimeout: 60_000 },
});
