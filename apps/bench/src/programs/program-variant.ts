import { InvalidArgumentError, isProtocol, type Protocol } from "@dfccl/primitives";

/** What stands behind a program's name on the command line. */
export interface ProgramVariant {
  /** The program alone: a file or the name of an algorithm. */
  readonly path: string;
  /** As typed: "ll, direct, x8"; empty where nothing was, or only what the program's name tells. */
  readonly label: string;
  readonly direct?: true | "in phases";
  readonly protocol?: Protocol;
  readonly instances?: number;
  readonly channels?: number;
}

/**
 * Takes apart "ring-all-reduce:c4:x8" (over 4 channels, in 8 instances) or "two-shot.ts:direct:ll": variants of one program
 * that are compared in one run; "two-shot.ts:direct:phases" is direct in phases. What is none of these belongs to the path.
 * @throws {InvalidArgumentError} where two contradict each other.
 */
export function parseVariant(text: string): ProgramVariant {
  const [, path = text, suffix = ""] = /^(.*?)((?::(?:direct|phases|simple|ll|ll128|[cx]\d{1,3}))*)$/.exec(text) ?? [];
  const words = suffix.split(":").slice(1);
  const only = <T extends string>(found: readonly T[]): T | undefined => {
    if (found.length > 1) throw new InvalidArgumentError("program", text, `one of :${found.join(", :")}`);
    return found[0];
  };
  const numberOf = (letter: string): number | undefined => {
    const word = only(words.filter((one) => one.startsWith(letter)));
    return word === undefined ? undefined : Number(word.slice(1));
  };
  const [protocol, instances, channels] = [only(words.filter(isProtocol)), numberOf("x"), numberOf("c")];
  return {
    path,
    label: words.filter((word) => !/^c\d/.test(word)).join(", "),
    ...(words.includes("phases") ? { direct: "in phases" } : words.includes("direct") ? { direct: true } : {}),
    ...(protocol === undefined ? {} : { protocol }),
    ...(instances === undefined ? {} : { instances }),
    ...(channels === undefined ? {} : { channels }),
  };
}
