import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { expect, it } from "vitest";
import * as api from "../src/index.js";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

function codeBlock(language: string): string {
  return new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(readme)?.[1] ?? "";
}

it("prints what the README says when its example runs", () => {
  const lines: string[] = [];
  const log = (...values: unknown[]): void => {
    lines.push(values.map((value) => (typeof value === "string" ? value : inspect(value))).join(" "));
  };
  const source = codeBlock("js").replace(/import (\{[^}]*\}) from "@dfccl\/compiler";/, "const $1 = api;");
  new Function("api", "console", source)(api, { log });
  expect(`${lines.join("\n")}\n`).toBe(codeBlock("text"));
});
