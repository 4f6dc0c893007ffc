import type { Option } from "commander";

/**
 * `dfccl run -n 8 PROGRAM …` is `dfccl launch -n 8 PROGRAM …`. Decided before any command reads options, because what follows
 * PROGRAM is the program's own, and of collective programs it is `run`'s.
 * @param args - what was typed after dfccl.
 * @param options - launch's.
 */
export function runAsLaunch(args: readonly string[], options: readonly Option[]): readonly string[] {
  if (args[0] !== "run") return args;
  for (let at = 1; at < args.length; at += 1) {
    const [name = "", value] = (args[at] ?? "").split("=", 2);
    if (/^-n\d*$/.test(name)) return ["launch", ...args.slice(1)];
    const option = options.find(({ long }) => long === name);
    if (option === undefined) break;
    if (option.required && value === undefined) at += 1;
  }
  return args;
}
