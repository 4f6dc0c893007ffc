import { defineConfig } from "vitest/config";

export default defineConfig({ test: { name: "queues", include: ["test/**/*.test.ts"], testTimeout: 300_000 } });
