#!/usr/bin/env node
import { runCommandLine } from "./command-line.js";
import { endOnBrokenPipe } from "./terminal/broken-pipe.js";

endOnBrokenPipe();
await runCommandLine(process.argv.slice(2));
