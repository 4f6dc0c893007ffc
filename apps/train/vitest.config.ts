import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  // Sources instead of a build in the README's examples, so that tests never see a stale one.
  resolve: { alias: { "@dfccl/train": fileURLToPath(new URL("src/index.ts", import.meta.url)) } },
  test: { name: "train", include: ["test/**/*.test.ts"], testTimeout: process.env.DFCCL_TEST_TIER === "long" ? 1_800_000 : 120_000 },
});
