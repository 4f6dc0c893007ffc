import { Command } from "commander";
import { err } from "dfccl/internal/measurement";
import { addInterpreterCommand } from "./commands/interpreter.js";
import { addMpiCommand } from "./commands/mpi.js";
import { addOverheadsCommand } from "./commands/overheads.js";

const examples = `
Examples:
  $ npm run bench:mpi -- --quick          all-reduce beside OpenMPI's
  $ npm run bench:overheads -- --quick    what queues and scheduling add
  $ npm run bench:interpreter             a compiled ring beside one by hand`;

/** What `npm run bench:mpi` and its like start, in a clone. */
export function makeLaboratory(): Command {
  const laboratory = new Command("laboratory")
    .description("Measurements that need a clone of the repository: what they measure is built on demand.")
    .addHelpText("after", examples)
    .showHelpAfterError("(--help shows what is possible)")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(err.red(text)) });
  addMpiCommand(laboratory);
  addOverheadsCommand(laboratory);
  addInterpreterCommand(laboratory);
  return laboratory;
}
