import { defineConfig } from "vitest/config";

export default defineConfig({
  // The maps of what is inlined lead to sources that aren't published.
  logLevel: "error",
  test: {
    name: "scripts",
    include: ["test/**/*.test.mjs"],
    testTimeout: 120_000,
    // It imports JSON in a way that Node refuses and bundlers take.
    server: { deps: { inline: ["@actions/workflow-parser", "@actions/expressions"] } },
  },
});
