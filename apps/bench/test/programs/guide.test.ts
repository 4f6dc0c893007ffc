import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { runCommand } from "../command/run-command.js";

const root = new URL("../../../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const guide = read("docs/collectives-of-your-own.md");
const programs = fileURLToPath(new URL("examples/programs/", root));

const blocks = [...guide.matchAll(/```(\w+)(?: ([\w.-]+))?\n([^`]*?)```(?:\n```text\n([^`]*?)```)?/g)].map(
  ([, language, name, body = "", output]) => ({
    language,
    name,
    body,
    output,
  }),
);

it("prints the programs as they are in examples/programs", () => {
  const named = blocks.flatMap(({ name, body }) => (name === undefined ? [] : [{ name, body }]));
  expect(named.map(({ name }) => name)).toEqual(["ring.ts", "mistaken.ts", "all-to-next.ts"]);
  for (const { name, body } of named) expect(body, name).toBe(read(`examples/programs/${name}`));
});

it("shows what its commands print", async () => {
  const commands = blocks.filter(({ language, output }) => language === "sh" && output !== undefined);
  expect(commands).toHaveLength(3);
  for (const { body, output } of commands) {
    const [, , ...args] = body.trim().split(" "); // npx dfccl
    const { stdout, stderr } = await runCommand(args, { cwd: programs });
    // On a busy machine, what it is at comes before.
    const said = stderr.replaceAll(/^.*…$/gm, "");
    const printed = `${stdout}${said}`.replace(/\s+/g, " ").trim();
    expect(printed).toBe(output?.trim());
  }
});

it.each([
  ["ring-schedule", ["ring.ts"]],
  ["all-to-next-schedule", ["all-to-next.ts"]],
  ["hierarchical-schedule", ["hierarchical.ts"]],
  ["hierarchical-chunk-0", ["hierarchical.ts", "--what", "instructions", "--chunk", "0"]],
])("shows the picture that its command draws: %s", async (picture, [file = "", ...options]) => {
  const { stdout } = await runCommand(["draw", `${programs}${file}`, ...options]);
  expect(stdout).toBe(read(`docs/images/${picture}.svg`));
});
