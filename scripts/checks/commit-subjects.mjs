// Subjects of commits fit a line of git log: 72 characters. By hand: node scripts/checks/commit-subjects.mjs
import { pathToFileURL } from "node:url";
import { root } from "../lib/paths.mjs";
import { run } from "../lib/run.mjs";

/** The last commit before this was checked; older ones stay as they are. */
const base = "ab68a44439f64d7c4bd90b077a9d7ec853f8b188";
const longest = 72;

/** @returns a check for each commit since `since`; skipped where git knows no such commit, as in an archive or a shallow clone. */
export async function commitSubjects({ folder = root, since = base } = {}) {
  const { code, output } = await run(["git", "log", "--format=%h %s", `${since}..HEAD`], { cwd: folder, timeoutMs: 60_000 });
  if (code !== 0) return { skipped: 1, details: `There is no history to look at: ${output.trim().split("\n")[0]}` };
  const commits = output.split("\n").filter((line) => line !== "");
  const tooLong = commits.filter((line) => [...line.slice(line.indexOf(" ") + 1)].length > longest);
  const details = tooLong.map((line) => `more than ${longest} characters: ${line}`).join("\n");
  return { passed: commits.length - tooLong.length + (commits.length === 0 ? 1 : 0), failed: tooLong.length, details };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { details, ...counts } = await commitSubjects();
  process.stdout.write(`${[details, JSON.stringify(counts)].filter(Boolean).join("\n")}\n`);
  process.exit(counts.failed ? 1 : 0);
}
