// How a block is checked, by what it is written in. A language that stands in no row, and a block that no row of shownOnly counts, fail.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { faultOf, pythonFault } from "./command-rules.mjs";
import { c as contexts } from "./page-contexts.mjs";
import { comparedBy, runWhole } from "./page-exceptions.mjs";
import { root } from "./paths.mjs";
import { commandsOf } from "./shell-commands.mjs";

/** @returns the faults of one block; TypeScript's are page-types.mjs's to find. `parseOnly` reads dfccl's command lines. */
export async function faultsOf(block, parseOnly) {
  const { page, language, text } = block;
  const check = checks[language === "" ? kindOfUnnamed(text) : language];
  if (check === undefined) return [`no row of scripts/lib/page-kinds.mjs says how "${language}" is checked`];
  return runWhole[page] ? [] : await check({ page, text }, parseOnly);
}

const checks = {
  sh: shellFaults,
  bash: shellFaults,
  "commands and what they print": ({ page, text }, parseOnly) =>
    shellFaults({ page, text: [...text.matchAll(/^\$ (.*)$/gm)].map(([, command]) => `${command}\n`).join("") }, parseOnly),
  ts: () => [],
  typescript: () => [],
  // Programs of packages' pages, which testReadmeExamples runs.
  js: ({ page }) => {
    const test = join(dirname(page), "test", "readme.test.ts");
    return existsSync(join(root, test)) && readFileSync(join(root, test), "utf8").includes("testReadmeExamples")
      ? []
      : [`${test} doesn't run it`];
  },
  c: ({ page, text }) => cFaults(contexts[page], text),
  python: ({ text }) => [pythonFault(text) ?? missingInPython(text)].filter(Boolean),
  json: ({ text }) => {
    try {
      JSON.parse(text);
      return [];
    } catch (error) {
      return [error.message];
    }
  },
  // What a program prints: some test compares it with the page.
  text: ({ page }) => {
    const test = comparedBy[page] ?? join(dirname(page), "test", "readme.test.ts");
    return existsSync(join(root, test)) ? [] : [`no test compares it: ${test} isn't there`];
  },
  // GitHub and the site draw it; there is nothing in it that could be run.
  mermaid: () => [],
  // Counted by shownOnly.
  shown: () => [],
};

const command = /^(?:\$ )?(?:npx|dfccl|npm|node|cmake|ctest|python3?|build\/\S+) /;

/** What a block is that doesn't say it. */
export function kindOfUnnamed(text) {
  if (/^\$ /.test(text)) return "commands and what they print";
  return command.test(text) ? "sh" : "shown";
}

export async function shellFaults({ page, text, mayLackArguments }, parseOnly) {
  try {
    execFileSync("sh", ["-n"], { input: text, stdio: "pipe" });
  } catch (error) {
    return [`${error.stderr}`.trim()];
  }
  const faults = [];
  for (const words of commandsOf(text)) {
    const fault = await faultOf(words, { page, parseOnly, mayLackArguments }).catch((error) => error.message);
    if (fault) faults.push(`${words.join(" ")}: ${fault}`);
  }
  return faults;
}

/** A part of a function is read within one; launches of kernels, which are CUDA's, are left out. */
function cFaults(context, text) {
  if (context === undefined) return ["scripts/lib/page-contexts.mjs doesn't say what stands around it"];
  const calls = text.replaceAll(/\w+<<<.*?>>>\(.*?\);/g, "");
  const program = `#include <dfccl/dfccl.h>\n#include <stdio.h>\nvoid part(void);\nvoid part(void) { ${context}\n${calls}}\n`;
  const flags = ["-fsyntax-only", "-Werror=implicit-function-declaration", "-I", join(root, "native", "include"), "-x", "c", "-"];
  try {
    execFileSync("cc", flags, { input: program, stdio: "pipe" });
    return [];
  } catch (error) {
    return [`${error.stderr}`.trim()];
  }
}

/** Names of the Python packages that they don't have. */
function missingInPython(text) {
  for (const [, module, name] of text.matchAll(/\b(dfccl_torch|dfccl_nccl)\.(\w+)/g)) {
    const source = readFileSync(join(root, `python/${module.replace("_", "-")}/src/${module}/__init__.py`), "utf8");
    if (!new RegExp(`\\b${name}\\b`).test(source)) return `${module} has no ${name}`;
  }
  return undefined;
}
