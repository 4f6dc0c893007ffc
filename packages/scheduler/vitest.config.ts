import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  // The sources of the package below, so that tests run without a build and never see a stale one.
  resolve: { alias: { "@dfccl/primitives": fileURLToPath(new URL("../primitives/src/index.ts", import.meta.url)) } },
  test: { name: "scheduler", include: ["test/**/*.test.ts"], testTimeout: 60_000 },
});
