import type { Command } from "commander";
import { outputFileOf, outputFolder } from "./options.js";

/**
 * Where to draw what was simulated, and whether to print text.
 * @param svg - what is written as SVG.
 */
export function addDrawingOptions(command: Command, svg = "write each chart as an SVG file"): Command {
  return command
    .option("--report <file.html>", "write tables and charts into one file that needs no other", outputFileOf(".html", ".htm"))
    .option("--svg <folder>", svg, outputFolder)
    .option("--json", "print one JSON object instead of text");
}
