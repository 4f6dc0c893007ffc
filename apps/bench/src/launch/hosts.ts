import { randomBytes } from "node:crypto";
import { InvalidArgumentError } from "commander";

/** A machine, and how many ranks start there. */
export interface Host {
  readonly name: string;
  readonly ranks: number;
}

const mostRanks = 1024;

/** Reads "node-0:4,node-1:4"; what has no number has one rank. For commander. */
export function parseHosts(text: string): readonly Host[] {
  const hosts = text.split(",").map((part): Host => {
    // Never an option of ssh, nor anything that a shell would read.
    const [, name, count = "1"] = /^((?:\w[\w.-]*@)?\w[\w.-]*)(?::([1-9]\d{0,3}))?$/.exec(part.trim()) ?? [];
    if (name === undefined) throw new InvalidArgumentError(`"${part}" is no machine and its ranks. Write it like node-0:4,node-1:4.`);
    return { name, ranks: Number(count) };
  });
  if (ranksOf(hosts) > mostRanks) throw new InvalidArgumentError(`These are ${ranksOf(hosts)} ranks; at most ${mostRanks} are allowed.`);
  const twice = hosts.find(({ name }, index) => hosts.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined) throw new InvalidArgumentError(`${twice.name} is there twice. Name each machine once, with all its ranks.`);
  return hosts;
}

/** Reads "node-0:29500" or "[fd00::1]:29500". For commander. */
export function parseAddress(text: string): string {
  const [, port = ""] = /^(?:\[[\da-f:.]+(?:%[\w.-]+)?\]|[^\s:[\]]+):([1-9]\d{0,4})$/i.exec(text) ?? [];
  if (port === "" || Number(port) > 65_535) {
    throw new InvalidArgumentError(`"${text}" is no machine and its port. Write it like node-0:29500.`);
  }
  return text;
}

/** A job without a name could not be joined. For commander. */
export function parseJob(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("The name is empty. Give one, or leave the option out for a new one.");
  return text;
}

export function ranksOf(hosts: readonly Host[]): number {
  return hosts.reduce((sum, { ranks }) => sum + ranks, 0);
}

export interface RemoteOptions {
  readonly hosts: readonly Host[];
  /** What runs a command on a machine, as `ssh -p 2222`: it gets the machine's name and one text for a shell. */
  readonly remoteShell: string;
  /** Where ranks meet. */
  readonly address: string | undefined;
}

/** A rank's process here, which stands for one elsewhere. */
export interface RemoteCommand {
  readonly host: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The first line of its input; the rank is ended when the input is. */
  readonly firstLine: string;
}

/** What starts each rank on its machine, in the same folder as here. */
export function remoteCommands({
  hosts,
  remoteShell,
  address,
}: RemoteOptions): (rank: number, rankCommand: readonly string[], env: object) => RemoteCommand {
  const places = hosts.flatMap(({ name, ranks }) => Array.from({ length: ranks }, () => name));
  const meeting = address ?? `${(hosts[0]?.name ?? "").replace(/^.*@/, "")}:29500`;
  const [command = "ssh", ...first] = remoteShell.trim().split(/\s+/);
  // Not among the arguments, which everybody on the machine can read.
  const firstLine = randomBytes(32).toString("hex");
  return (rank, rankCommand, env) => {
    const host = places[rank] ?? "";
    const exports = Object.entries({ ...env, DFCCL_ADDRESS: meeting }).map(([name, value]) => `export ${name}=${quoted(String(value))}`);
    const script = [
      "read -r DFCCL_JOB_SECRET; export DFCCL_JOB_SECRET",
      ...exports,
      `cd ${quoted(process.cwd())} || exit 1`,
      "exec 3<&0",
      `${rankCommand.map(quoted).join(" ")} </dev/null 3<&- & rank=$!`,
      // The connection's end, however it came about, is the rank's.
      "(cat <&3; kill -TERM $rank; sleep 5; kill -KILL $rank) >/dev/null 2>&1 & watch=$!",
      "exec 3<&-",
      "wait $rank; code=$?; kill $watch 2>/dev/null; exit $code",
    ].join("\n");
    return { host, command, args: [...first, host, script], firstLine };
  };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
