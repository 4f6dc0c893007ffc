import { checkText, DfcclError, formatValue, readPlain } from "@dfccl/primitives";
import { z } from "zod";

const mostGpus = 200_000;
const mostCollectives = 1_000_000;
// What fits into the memory of one process, with room: a list entry takes a few bytes in each of a few tables.
const mostSubmissions = 50_000_000;

const probability = z.number().min(0).max(1);
const size = z.int().min(1).max(mostGpus);
const collectives = z.int().min(1).max(mostCollectives);

const grouping3d = z.strictObject({
  policy: z.literal("3d"),
  /** GPUs in a tensor-parallel group; dp · pp such groups. */
  tp: size,
  /** GPUs in a data-parallel group; tp · pp such groups. */
  dp: size,
  /** Pipeline stages. */
  pp: size,
  collectivesPerTpGroup: collectives,
  collectivesPerDpGroup: collectives,
  /** May be given as a check: tp · dp · pp. */
  gpus: size.optional(),
});

const groupingFree = z.strictObject({
  policy: z.literal("free"),
  gpus: size,
  groups: z.array(z.strictObject({ gpus: z.array(z.int().min(0)).min(1), collectives })).min(1),
});

const schema = z
  .strictObject({
    name: z.string().optional(),
    model: z.enum(["single-queue", "synchronization"]),
    grouping: z.discriminatedUnion("policy", [grouping3d, groupingFree]),
    disorderProbability: probability,
    /** Of an action, instead of a submission; in the synchronization model only. */
    synchronizationProbability: probability.max(0.999, "must be at most 0.999, or a GPU would only ever synchronize").default(0),
    /** How a GPU's list is made of its groups' lists; the paper doesn't say. */
    listOrder: z.enum(["round-robin", "concatenated"]).default("round-robin"),
  })
  .superRefine((config, context) => {
    const fail = (path: (string | number)[], message: string): void => context.addIssue({ code: "custom", path, message });
    if (config.model === "single-queue" && config.synchronizationProbability > 0) {
      fail(["synchronizationProbability"], "must be 0 or absent in the single-queue model, which has no synchronizations");
    }
    if (config.grouping.policy === "3d") check3d(config.grouping, fail);
    else checkFree(config.grouping, fail);
  });

export type DeadlockConfig = Readonly<z.infer<typeof schema>>;
export type ListOrder = DeadlockConfig["listOrder"];
export type Grouping3d = z.infer<typeof grouping3d>;
type GroupingFree = z.infer<typeof groupingFree>;
type Fail = (path: (string | number)[], message: string) => void;

/** A configuration of a simulation isn't valid. `facts.problems` lists every key, its value and what is allowed. */
export class SimulationConfigError extends DfcclError {
  override readonly code = "SIMULATION_CONFIG";

  constructor(source: string, problems: readonly ConfigProblem[], cause?: unknown) {
    const text = (): string => problems.map(({ key, value, problem }) => `${key} is ${describe(value)}: ${problem}`).join("; ");
    super(() => `Configuration ${source}: ${text()}.`, {
      facts: { source, problems },
      remedy: "docs/simulator.md describes each key.",
      cause,
    });
  }
}

export interface ConfigProblem {
  readonly key: string;
  readonly value: unknown;
  readonly problem: string;
}

/**
 * Checks a configuration, parsed from JSON.
 * @param source - what to call it in an error.
 * @throws {SimulationConfigError} naming every key that is wrong, its value and what is allowed.
 */
export function parseDeadlockConfig(value: unknown, source = "given"): DeadlockConfig {
  return parseWith(schema, value, source);
}

/** The same for any schema. */
export function parseWith<T extends z.ZodType>(schemaOf: T, value: unknown, source: string): z.infer<T> {
  checkText("source", source, "what to call it in an error");
  const plain = readPlain(source, value);
  const parsed = schemaOf.safeParse(plain);
  if (parsed.success) return parsed.data;
  throw new SimulationConfigError(
    source,
    parsed.error.issues.flatMap((issue) => problemsOf(issue, plain)),
  );
}

/** Number of GPUs. */
export function gpusOf({ grouping }: DeadlockConfig): number {
  return grouping.policy === "3d" ? grouping.tp * grouping.dp * grouping.pp : grouping.gpus;
}

/** Number of groups. */
export function groupsOf({ grouping }: DeadlockConfig): number {
  return grouping.policy === "3d" ? (grouping.tp + grouping.dp) * grouping.pp : grouping.groups.length;
}

/** Submissions of a round: the collectives of every GPU's list, over all GPUs. */
export function submissionsOf({ grouping }: DeadlockConfig): number {
  if (grouping.policy === "free") return grouping.groups.reduce((sum, group) => sum + group.gpus.length * group.collectives, 0);
  return grouping.tp * grouping.dp * grouping.pp * (grouping.collectivesPerTpGroup + grouping.collectivesPerDpGroup);
}

function check3d(grouping: Grouping3d, fail: Fail): void {
  const { tp, dp, pp } = grouping;
  const product = tp * dp * pp;
  if (grouping.gpus !== undefined && grouping.gpus !== product) {
    fail(["grouping", "gpus"], `must be tp · dp · pp = ${tp} · ${dp} · ${pp} = ${product}`);
  }
  if (product > mostGpus) fail(["grouping"], `has tp · dp · pp = ${product} GPUs; at most ${mostGpus} are allowed`);
  const inStage = tp * dp * (grouping.collectivesPerTpGroup + grouping.collectivesPerDpGroup);
  if (inStage > mostSubmissions) fail(["grouping"], `has ${inStage} submissions in a stage; at most ${mostSubmissions} are allowed`);
}

function checkFree(grouping: GroupingFree, fail: Fail): void {
  const seen = new Set<number>();
  grouping.groups.forEach(({ gpus }, g) => {
    const inGroup = new Set<number>();
    gpus.forEach((gpu, i) => {
      const path = ["grouping", "groups", g, "gpus", i];
      if (gpu >= grouping.gpus) fail(path, `must be a GPU from 0 to ${grouping.gpus - 1}`);
      if (inGroup.has(gpu)) fail(path, "must be listed once in its group");
      inGroup.add(gpu);
      seen.add(gpu);
    });
  });
  if (seen.size < grouping.gpus) fail(["grouping", "groups"], `must use all ${grouping.gpus} GPUs; they use ${seen.size}`);
  const submissions = grouping.groups.reduce((sum, group) => sum + group.gpus.length * group.collectives, 0);
  if (submissions > mostSubmissions)
    fail(["grouping", "groups"], `have ${submissions} submissions; at most ${mostSubmissions} are allowed`);
}

function problemsOf(issue: z.core.$ZodIssue, root: unknown): ConfigProblem[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => {
      const path = [...issue.path, key];
      return { key: keyOf(path), value: valueAt(root, path), problem: "no such key is known" };
    });
  }
  const problem = issue.message
    .replace(/^Invalid input: /, "")
    .replace(/, received undefined$/, "")
    .replace(/^Too (?:small|big): expected \w+ to be /, "must be ");
  return [{ key: keyOf(issue.path), value: valueAt(root, issue.path), problem }];
}

function keyOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "the configuration";
  return path.map((part, i) => (typeof part === "number" ? `[${part}]` : `${i === 0 ? "" : "."}${String(part)}`)).join("");
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], root);
}

const longestShown = 60;

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? formatValue(value);
  } catch {
    return formatValue(value); // a bigint, or what holds itself
  }
}

function describe(value: unknown): string {
  if (value === undefined) return "missing";
  const text = textOf(value);
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}
