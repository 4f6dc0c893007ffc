import { afterEach, describe, expect, it, vi } from "vitest";
import { machineFacts, reportHeader } from "../src/peers/report-header.js";

describe("reportHeader", () => {
  afterEach(() => vi.unstubAllEnvs());
  const commitIn = (root: string | undefined) => reportHeader(root, machineFacts(), "").commit;

  it("names the packed folder's commit, also inside of another clone", () => {
    vi.stubEnv("DFCCL_COMMIT", "packed1");
    expect(commitIn(import.meta.dirname)).toBe("packed1");
    expect(commitIn(undefined)).toBe("packed1");
  });

  it("names the clone's commit where nothing was packed", () => {
    vi.stubEnv("DFCCL_COMMIT", undefined);
    expect(commitIn(import.meta.dirname)).toMatch(/^[0-9a-f]{7,}\+?$/);
    expect(commitIn(undefined)).toBeUndefined();
  });
});
