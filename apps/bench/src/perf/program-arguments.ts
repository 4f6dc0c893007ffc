import { type Measurement, ranksOf } from "@dfccl/collective-tests";
import type { Program } from "@dfccl/primitives";
import { enginePrograms, writePrograms } from "./engine-programs.js";
import type { InputFiles } from "./input-files.js";

/**
 * Files of the programs that the engine doesn't have, and the arguments that name them.
 * @param lanes - numbers of blocks; the native loop chooses by size.
 * @param choices - programs that cases name by their number, from 1.
 */
export function programArguments(
  lanes: readonly number[],
  choices: readonly Program[] = [],
): (measurement: Measurement, files: InputFiles) => string[] {
  return ({ run }, files) => {
    const found: Record<"program" | "in-place-program", string[]> = { program: [], "in-place-program": [] };
    for (const count of lanes) {
      const { outOfPlace, inPlace } = enginePrograms(run.collective, ranksOf(run.options), count);
      for (const [option, program] of [["program", outOfPlace] as const, ["in-place-program", inPlace] as const]) {
        if (program === undefined) continue;
        const path = files.add(`${option}-${count}`, (to) => writePrograms(to, program));
        found[option].push(`${count}:${path}`);
      }
    }
    const chosen = choices.map((program, index) => files.add(`choice-${index + 1}`, (to) => writePrograms(to, program)));
    return Object.entries({ ...found, programs: chosen }).flatMap(([option, files]) =>
      files.length > 0 ? [`--${option}`, files.join(",")] : [],
    );
  };
}
