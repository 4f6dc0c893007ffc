import { text } from "node:stream/consumers";
import { killMs } from "./launch/ending-times.js";
import { endMarkedProcesses } from "./launch/marked-processes.js";
import { launchIsDone } from "./launch/watcher.js";

// A program of its own beside `dfccl launch`, whose end it sees as the end of its input. A process that is just being started holds
// that open, too, until its environment, with the mark in it, has replaced the launcher's: so none is missed.
const [mark = ""] = process.argv.slice(2);
if (mark !== "" && (await text(process.stdin)) !== launchIsDone) await endMarkedProcesses(mark, { graceMs: killMs, looks: 4 });
