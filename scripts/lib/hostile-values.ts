// Calls all that a package exports with what callers in JavaScript may pass: whatever is refused must be refused with a sentence.
import { describe, expect, it } from "vitest";

const values: readonly unknown[] = [
  null,
  undefined,
  5,
  -1,
  0.5,
  Number.NaN,
  2 ** 53,
  1n,
  "x",
  "__proto__",
  Symbol("s"),
  true,
  {},
  [],
  [null],
  () => {},
];

/** Fresh arguments that are right; called once a call, so that none sees what another has done to them. */
type Arguments = () => readonly unknown[];

interface Variant {
  readonly what: string;
  readonly args: readonly unknown[];
}

interface Options {
  /** Exported functions that aren't called, and why not. */
  readonly except?: Readonly<Record<string, string>>;
}

/**
 * Every function and class of a module is called with right arguments and then with each argument, and each property of an
 * argument, replaced by what it mustn't be. It returns, or throws what has a code, facts and a remedy. Classes of errors are left out.
 */
export function testHostileValues(exported: object, calls: Readonly<Record<string, Arguments>>, { except = {} }: Options = {}): void {
  const functions = Object.entries(exported).filter(([, value]) => typeof value === "function" && !(value.prototype instanceof Error));

  describe("values that make no sense are refused with a sentence", () => {
    it("in all that is exported", () => {
      const named = new Set([...Object.keys(calls), ...Object.keys(except)].map((name) => name.split(" ")[0]));
      expect(functions.map(([name]) => name).filter((name) => !named.has(name))).toEqual([]);
    });

    it.each(Object.entries(calls))("%s", async (name, right) => {
      const [, called] = functions.find(([other]) => other === name.split(" ")[0]) ?? [];
      await settle(() => call(called, right()));
      const failures: string[] = [];
      for (const { what, args } of variants(right)) {
        const error = await settle(() => call(called, args)).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        if (error !== undefined && !explains(error)) failures.push(`${name} with ${what}: ${String(error)}`);
      }
      expect(failures).toEqual([]);
    });
  });
}

function call(called: unknown, args: readonly unknown[]): unknown {
  if (typeof called !== "function") throw new Error("is no exported function");
  const isClass = Function.prototype.toString.call(called).startsWith("class");
  return isClass ? Reflect.construct(called, args) : Reflect.apply(called, undefined, args);
}

/** Waits for what comes later, and closes what was opened. */
async function settle(attempt: () => unknown): Promise<void> {
  const result = await attempt();
  if (typeof result === "object" && result !== null && Symbol.dispose in result) (result as Disposable)[Symbol.dispose]();
}

function explains(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, facts, remedy } = error as { code?: unknown; facts?: unknown; remedy?: unknown };
  return typeof code === "string" && typeof facts === "object" && typeof remedy === "string" && remedy !== "";
}

function* variants(right: Arguments): Generator<Variant> {
  for (const position of right().keys()) {
    for (const value of values) yield { what: `${text(value)} as argument ${position}`, args: right().with(position, value) };
    for (const name of namesOf(right()[position])) {
      for (const value of values) {
        const args = right();
        yield {
          what: `${text(value)} as ${name} of argument ${position}`,
          args: args.with(position, replaced(args[position], name, value)),
        };
      }
    }
  }
}

/** Names of the properties of plain objects and the first of lists: what is of a class isn't a caller's to fill. */
function namesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [] : ["0"];
  const isPlain = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? Object.keys(value) : [];
}

function replaced(whole: unknown, name: string, value: unknown): unknown {
  return Array.isArray(whole) ? whole.with(Number(name), value) : { ...(whole as object), [name]: value };
}

function text(value: unknown): string {
  if (typeof value === "object" && value !== null) return JSON.stringify(value);
  return typeof value === "string" ? `"${value}"` : String(value);
}
