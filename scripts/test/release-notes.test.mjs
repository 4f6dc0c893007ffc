import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { releaseNotes } from "../checks/release-notes.mjs";
import { groupByKind } from "../lib/release-notes.mjs";

const note = (text) => `---\n"dfccl": minor\n---\n\n${text}\n`;

it("names a note with a paragraph that doesn't, and an empty one", () => {
  const folder = mkdtempSync(join(tmpdir(), "dfccl-notes-"));
  try {
    writeFileSync(join(folder, "good.md"), note("Added: one.\n\nFixed: two."));
    writeFileSync(join(folder, "half.md"), note("Added: one.\n\nA second thing."));
    writeFileSync(join(folder, "empty.md"), note(""));
    const { passed, failed, details } = releaseNotes(folder);
    expect([passed, failed]).toEqual([1, 2]);
    expect(details).toMatch(/half\.md: "A second thing\.…" doesn't say.*Begin each paragraph/);
    expect(details).toContain("empty.md: It has no text");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const older = "## 0.1.0\n\n### Added\n\n- All.\n";

it("groups the newest version's lines by kind, and leaves older versions alone", () => {
  const written = `# dfccl\n\n## 0.2.0\n\n### Minor Changes\n\n- Fixed: a\n  b.\n- Added: c.\n\n### Patch Changes\n\n- Fixed: d.\n\n${older}`;
  expect(groupByKind(written)).toBe(`# dfccl\n\n## 0.2.0\n\n### Added\n\n- C.\n\n### Fixed\n\n- A\n  b.\n- D.\n\n${older}`);
});

it("says where nothing changed, and refuses a line without a kind", () => {
  expect(groupByKind(`# a\n\n## 0.2.0\n\n${older}`)).toBe(
    `# a\n\n## 0.2.0\n\nNothing changed here: all packages carry one version.\n\n${older}`,
  );
  expect(() => groupByKind("# a\n\n## 0.2.0\n\n### Patch Changes\n\n- Something.\n")).toThrow("Something");
});
