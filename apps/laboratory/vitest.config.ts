import { defineConfig } from "vitest/config";

export default defineConfig({ test: { name: "laboratory", include: ["test/**/*.test.ts"], testTimeout: 120_000 } });
