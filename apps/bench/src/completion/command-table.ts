import { collectiveNames, optionTable } from "@dfccl/collective-tests";
import type { Argument, Command, Option } from "commander";

export interface OptionEntry {
  /** As they are typed, such as "-b" and "--bytes". */
  readonly names: readonly string[];
  readonly summary: string;
  readonly takesValue: boolean;
  /** What may be typed behind it; empty where that can't be listed. */
  readonly values: readonly string[];
}

export interface CommandEntry {
  /** What is typed after dfccl; of the command itself, nothing. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly options: readonly OptionEntry[];
  /** Names of the commands below it. */
  readonly commands: readonly string[];
  /** What may be typed as its first argument; empty where that can't be listed. */
  readonly values: readonly string[];
}

/** Every command with its options, the command itself first: read from what parses them, as help is. */
export function commandTable(command: Command, path: readonly string[] = []): CommandEntry[] {
  const own: CommandEntry = {
    path,
    summary: command.summary() || command.description(),
    options: [...command.options.map(optionEntry), helpEntry, ...(isPerf(path) ? perfEntries() : [])],
    commands: command.commands.map((one) => one.name()),
    values: isPerf(path) ? collectiveNames : valuesOf(command.registeredArguments[0]),
  };
  return [own, ...command.commands.flatMap((one) => commandTable(one, [...path, one.name()]))];
}

const helpEntry: OptionEntry = { names: ["-h", "--help"], summary: "display help for command", takesValue: false, values: [] };

function optionEntry({ short, long, description, required, optional, argChoices }: Option): OptionEntry {
  const names = [short, long].filter((name) => name !== undefined);
  return { names, summary: description, takesValue: required || optional, values: argChoices ?? [] };
}

function valuesOf(argument: Argument | undefined): readonly string[] {
  return argument?.argChoices ?? [];
}

const isPerf = (path: readonly string[]): boolean => path.length === 1 && path[0] === "perf";

/** Those that `perf` hands on, which nccl-tests' own parser reads. */
function perfEntries(): OptionEntry[] {
  return optionTable.map(({ short, long, meaning, value }) => ({
    names: [...(short === undefined ? [] : [`-${short}`]), `--${long}`],
    summary: meaning,
    takesValue: true,
    values: /^[a-z_]+(?:[/,][a-z_]+)+$/.test(value) ? value.split(/[/,]/) : [],
  }));
}
