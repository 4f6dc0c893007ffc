// Formats every C, C++ and CUDA file in place; part of `npm run format`.
import { cppSources } from "./checks/commands.mjs";
import { giveUp, step } from "./lib/console.mjs";
import { onPath } from "./lib/machine.mjs";
import { run } from "./lib/run.mjs";

if (!onPath("clang-format-14")) giveUp("clang-format-14 is missing. Type: apt-get install clang-format-14");
const { code, output } = await run(["clang-format-14", "-i", ...cppSources()]);
if (code !== 0) giveUp(output);
step("clang-format", `${cppSources().length} files`);
