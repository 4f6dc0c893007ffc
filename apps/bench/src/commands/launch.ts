import { randomUUID } from "node:crypto";
import { type Command, Option } from "commander";
import { type Host, parseAddress, parseHosts, parseJob, ranksOf } from "../launch/hosts.js";
import { launchProcesses } from "../launch/launch-processes.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { programAndArguments, wholeNumber } from "./options.js";

interface LaunchFlags {
  readonly ranks: number;
  readonly job: string;
  readonly keepGoing?: boolean;
  readonly prefix?: boolean;
  readonly restarts: number;
  readonly hosts?: readonly Host[];
  readonly remoteShell: string;
  readonly address?: string;
}

export function addLaunchCommand(program: Command): void {
  program
    .command("launch")
    .summary("start a program once a rank, on this machine or several")
    .description(
      "Starts a program N times and tells each process its rank, in DFCCL_RANK, DFCCL_WORLD_SIZE and DFCCL_JOB; joinWorld() reads " +
        "them. When one fails, the others are ended too, and so are all, and what they have started, when this command ends or is killed. " +
        "dfccl run -n N is the same.",
    )
    .argument("<program...>", "the program and its arguments, as they are; dfccl stands for this command itself", programAndArguments)
    .option("-n, --ranks <n>", "processes", wholeNumber(1, 1024), 2)
    .addOption(new Option("--job <name>", "the job's name").argParser(parseJob).default(randomUUID(), "a new one"))
    .option("--keep-going", "let the others run on when one fails")
    .option("--prefix", "begin each line of output with its rank, as mpirun --tag-output does: [3] …")
    .addOption(
      new Option("--restarts <n>", "start all ranks again when one fails, at most so often, as torchrun's --max-restarts does")
        .argParser(wholeNumber(0, 1000))
        .default(0)
        .conflicts("keepGoing"),
    )
    .addOption(
      new Option("--hosts <list>", "machines and their ranks, such as node-0:4,node-1:4; each is reached by ssh, in this folder's path")
        .argParser(parseHosts)
        .conflicts("ranks"),
    )
    .option("--remote-shell <command>", "with --hosts: what runs a command on a machine", "ssh")
    .addOption(
      new Option("--address <host:port>", "with --hosts: where ranks meet (default: the first machine, port 29500)").argParser(
        parseAddress,
      ),
    )
    .passThroughOptions()
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl launch -n 8 dfccl disorder
  $ dfccl launch -n 4 node train.js --epochs 3
  $ dfccl launch -n 4 --prefix --restarts 3 node train.js
  $ dfccl launch --hosts node-0:4,node-1:4 --remote-shell "ssh -p 2222" node train.js

${exitCodesText({ 0: "every process ended with 0", 1: "one did not; which, is told", 2: "usage" })}`,
    )
    .action(async ([name = "", ...args]: string[], flags: LaunchFlags, command: Command) => {
      const { hosts, remoteShell, address, ...world } = flags;
      const unused = ["remoteShell", "address"].find((option) => command.getOptionValueSource(option) === "cli");
      if (hosts === undefined && unused !== undefined)
        command.error("error: --remote-shell and --address need --hosts: without it all is here.");
      const remote = hosts === undefined ? undefined : { hosts, remoteShell, address };
      const ranks = hosts === undefined ? world.ranks : ranksOf(hosts);
      process.exitCode = await launchProcesses(name, args, { ...world, ranks, remote });
    });
}
