// The notes of a release: paragraphs that say first what kind of change they tell of, here and in the changelogs made of them.
const kinds = ["Added", "Changed", "Fixed"];
const beginning = new RegExp(`^(${kinds.join("|")}): \\S`);
const remedy = `Begin each paragraph with one of ${kinds.map((kind) => `"${kind}: "`).join(", ")}.`;

/** @param note - a file of .changeset, as a whole. @returns what is wrong with it, a sentence each. */
export function faultsOfNote(note) {
  const [, , text] = /^---\n(.*?)\n---\n(.*)$/s.exec(note) ?? [];
  if (!text?.trim()) return ["It has no text after the list of packages."];
  const faulty = text
    .trim()
    .split(/\n\s*\n/)
    .filter((paragraph) => !beginning.test(paragraph));
  return faulty.map((paragraph) => `"${paragraph.slice(0, 40)}…" doesn't say what it is. ${remedy}`);
}

/**
 * Puts the newest version's lines under Added, Changed and Fixed, in place of what size of a step they make.
 * @param changelog - CHANGELOG.md as changesets wrote it, through .changeset/changelog.cjs.
 * @throws {Error} naming a line that doesn't say its kind.
 */
export function groupByKind(changelog) {
  const [title, newest = "", ...older] = changelog.split(/^(?=## )/m);
  const [version] = newest.split("\n", 1);
  const lines = newest
    .slice(version.length)
    .replaceAll(/^### .* Changes$/gm, "")
    .split(/^- /m)
    .map((item) => item.trim())
    .filter((item) => item !== "");
  const stray = lines.find((item) => !beginning.test(item));
  if (stray !== undefined) throw new Error(`"${stray}" doesn't say what it is. ${remedy}`);
  const sections = kinds.map((kind) => {
    const own = lines.filter((item) => item.startsWith(`${kind}: `)).map((item) => `- ${capitalized(item.slice(kind.length + 2))}\n`);
    return own.length > 0 ? `### ${kind}\n\n${own.join("")}` : "";
  });
  const body = sections.filter((section) => section !== "").join("\n") || "Nothing changed here: all packages carry one version.\n";
  return [title, `${version}\n\n${body}${older.length > 0 ? "\n" : ""}`, ...older].join("");
}

const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);
