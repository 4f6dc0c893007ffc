import { endOnBrokenPipe, runToExitCode } from "dfccl/internal/measurement";
import { makeLaboratory } from "./command-line.js";

endOnBrokenPipe();
await runToExitCode(() => makeLaboratory().parseAsync());
