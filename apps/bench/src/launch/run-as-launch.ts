// Of launch's options, those that take a value.
const withValue: ReadonlySet<string> = new Set(["--job"]);
const alone: ReadonlySet<string> = new Set(["--keep-going"]);

/**
 * `dfccl run -n 8 PROGRAM …` is `dfccl launch -n 8 PROGRAM …`. Decided before any command reads options, because what follows
 * PROGRAM is the program's own, and of collective programs it is `run`'s.
 * @param args - what was typed after dfccl.
 */
export function runAsLaunch(args: readonly string[]): readonly string[] {
  if (args[0] !== "run") return args;
  for (let at = 1; at < args.length; at += 1) {
    const [name = "", value] = (args[at] ?? "").split("=", 2);
    if (/^-n\d*$/.test(name)) return ["launch", ...args.slice(1)];
    if (withValue.has(name)) at += value === undefined ? 1 : 0;
    else if (!alone.has(name)) break;
  }
  return args;
}
