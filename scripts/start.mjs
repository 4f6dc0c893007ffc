// `npm start [-- ARGUMENTS]`: set up, then run the main job. Without arguments it also runs the control that deadlocks.
import { bold, line } from "./lib/console.mjs";
import { runInForeground } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

await setup();
const command = ["node", "apps/bench/dist/cli.js", "disorder", "--control", ...process.argv.slice(2)];
line(`${bold("Running")}  npx dfccl ${command.slice(2).join(" ")}\n`);
process.exit(await runInForeground(command));
