// `node scripts/bench.mjs mpi|collectives|overheads|interpreter [ARGUMENTS]`: set up, build the native benchmarks, measure.
import { join } from "node:path";
import { benchmarks } from "./lib/benchmarks.mjs";
import { bold, giveUp, line, step } from "./lib/console.mjs";
import { locked } from "./lib/locked.mjs";
import { installCommand } from "./lib/machine.mjs";
import { root } from "./lib/paths.mjs";
import { run, runInForeground, tail } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

const [which = "", ...rest] = process.argv.slice(2);
const besideOpenMpi = ["mpi", "collectives"];
if (!Object.hasOwn(benchmarks, which))
  giveUp(
    `say which benchmark: ${Object.keys(benchmarks)
      .map((name) => `npm run bench:${name}`)
      .join(", ")}`,
  );

const missing = await setup({ for: "bench" });
const mpi = missing.find(({ name }) => name === "OpenMPI");
if (besideOpenMpi.includes(which) && mpi) giveUp(`OpenMPI is missing. Type: ${installCommand([mpi])}`);

const build = ["cmake", "--build", "--preset", "release", "--target", "bench", "-j", "2"];
for (const command of [["cmake", "--preset", "release"], build]) {
  const { code, output, seconds } = await run(locked(command, "release"), {
    cwd: join(root, "native"),
    timeoutMs: 1_800_000,
    log: "bench-build",
  });
  if (code !== 0) giveUp(`${command.join(" ")} failed:\n${tail(output)}`);
  if (command === build) step("native benchmarks", "built", seconds);
}
const command = ["node", ...benchmarks[which], ...rest];
line(`${bold("Running")}  ${command.join(" ")}\n`);
process.exit(await runInForeground(command));
