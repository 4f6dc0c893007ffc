// Every command with what may be typed behind it, and what may not.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../lib/paths.mjs";
import { faultOfEnd } from "../judge.mjs";
import { end, inFolder } from "../processes.mjs";

const cli = join(root, "apps", "bench", "dist", "cli.js");
/** Path of each command to its options: what completion says of them. */
const commands = new Map();
for (const line of execFileSync(process.execPath, [cli, "completion", "fish"], { encoding: "utf8" }).split("\n")) {
  const [, path, rest] = /^complete -c dfccl -n '__dfccl_at "([^"]*)"'(.*)$/.exec(line) ?? [];
  if (path === undefined) continue;
  const options = commands.get(path) ?? [];
  commands.set(path, options);
  const [, short] = / -s (\S)/.exec(rest) ?? [];
  const [, long] = / -l (\S+)/.exec(rest) ?? [];
  const [, values] = / -x -a '([^']*)'/.exec(rest) ?? [];
  // Any name is a machine's, which would be asked for.
  if (long === "hosts") continue;
  if (short ?? long) options.push({ name: long ? `--${long}` : `-${short}`, takesValue: / -[rx]/.test(rest), values: values?.split(" ") });
}
const paths = [...commands.keys()].filter((path) => path !== "");
const positional = [
  "ring-all-reduce",
  "all_reduce",
  "S0",
  "B",
  "P(sum)",
  "bash",
  "true",
  "false",
  "./nope",
  "own.json",
  "own.xml",
  "own.mjs",
  "folder",
];

export async function tryCase(random) {
  const path = random.pick(paths);
  const args = path.split(" ");
  for (let options = random.below(4); options > 0; options -= 1) args.push(...anOption(random, commands.get(path)));
  args.push(...random.list(2, () => (random.chance(0.6) ? random.pick(positional) : typed(random))));
  const fault = await inFolder(async (cwd, env) => {
    writeFileSync(join(cwd, "own.json"), random.chance(0.3) ? random.text() : (JSON.stringify(random.json()) ?? ""));
    writeFileSync(join(cwd, "own.xml"), `<algo name="${random.text()}" nchunksperloop="${random.number()}"></algo>`);
    writeFileSync(join(cwd, "own.mjs"), `export default ${JSON.stringify(random.json())};`);
    const ended = await end([process.execPath, cli, ...args], { cwd, env });
    // The machine's other worlds are what it tells of, and that one of them is stuck is an answer.
    const isAnswer = path === "status" && ended.code === 1 && ended.stderr === "";
    return faultIn(isAnswer ? { ...ended, code: 0 } : ended);
  });
  return fault && `dfccl ${args.map((arg) => JSON.stringify(arg)).join(" ")}\n${fault}`;
}

function faultIn(ended) {
  const fault = faultOfEnd(ended);
  return fault && `${fault}\n${ended.stdout.slice(-1000)}\n${ended.stderr.slice(-2000)}`;
}

function anOption(random, options) {
  const { name: option, takesValue, values } = options.length === 0 ? { name: "--nope" } : random.pick(options);
  const mistyped = random.chance(0.1) ? random.mutatedText(option).replaceAll("\0", "") : option;
  if (!takesValue) return [mistyped];
  return [mistyped, values && random.chance(0.5) ? random.pick(values) : typed(random)];
}

/** No path but one below the folder, no text that a process can't be given. */
function typed(random) {
  const text = random.chance(0.5) ? String(random.number()) : random.text();
  return text.replaceAll("\0", "").replaceAll("/", "|").slice(0, 500);
}
