import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "./run-command.js";

const limit = 90_000;
const folder = mkdtempSync(join(tmpdir(), "dfccl-hosts-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** In ssh's place: notes what it was called with, and runs it here with nothing of the caller's environment but the path. */
const standIn = join(folder, "shell");
writeFileSync(standIn, `#!/bin/sh\necho "$*" >> ${folder}/calls\nshift\nexec env -i PATH="$PATH" HOST_OF_TEST=1 sh -c "$*"\n`);
chmodSync(standIn, 0o755);
const unreachable = join(folder, "unreachable");
writeFileSync(unreachable, "#!/bin/sh\nexit 255\n");
chmodSync(unreachable, 0o755);

const launch = (hosts: string, ...rest: readonly string[]) => runCommand(["launch", "--hosts", hosts, "--remote-shell", standIn, ...rest]);
const node = (script: string): string[] => [process.execPath, "-e", script];

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("dfccl launch --hosts", () => {
  it("starts each machine's ranks there, and tells them who they are, where they meet and a secret", { timeout: limit }, async () => {
    const script =
      "const e = process.env; console.log(e.DFCCL_RANK, e.DFCCL_WORLD_SIZE, e.DFCCL_ADDRESS, e.DFCCL_JOB_SECRET.length, process.argv[1])";
    const { code, stdout, stderr } = await launch("a:2,user@b", ...node(script), "it's");
    expect(stderr).toBe("");
    const ranks = [0, 1, 2].map((rank) => `${rank} 3 a:29500 64 it's`);
    expect(stdout.trimEnd().split("\n").sort()).toEqual(ranks);
    expect(code).toBe(0);
    const called = readFileSync(join(folder, "calls"), "utf8");
    expect(called.match(/^(a|user@b) /gm)?.sort()).toEqual(["a ", "a ", "user@b "]);
    // What is among the arguments anybody on the machine can read.
    expect(called).not.toMatch(/[0-9a-f]{64}/);
  });

  it("joins them in one world", { timeout: limit }, async () => {
    const disorder = ["dfccl", "disorder", "--scale", "0.01", "-i", "2", "--seed", "3", "--json"];
    const { code, stdout } = await launch("a,b", "--address", "127.0.0.1:29641", ...disorder);
    expect(JSON.parse(stdout)).toMatchObject({ ranks: 2, wrong: 0, partial: false });
    expect(code).toBe(0);
  });

  it("ends the others when one fails, and says which, where", { timeout: limit }, async () => {
    const script =
      "if (process.env.DFCCL_RANK === '1') process.exit(3); process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000)";
    const { code, stderr } = await launch("a,b", ...node(script));
    expect(stderr).toMatch(/^Rank 1 on b \(process \d+\) ended with 3\.\n$/);
    expect(code).toBe(1);
  });

  it("leaves no rank behind where it is killed itself", { timeout: limit }, async () => {
    const script = "console.log('rank', process.pid); setInterval(() => {}, 1000)";
    const when = [/rank \d+/, (child: { kill(signal: "SIGKILL"): void }) => child.kill("SIGKILL")] as const;
    const args = ["launch", "--hosts", "a", "--remote-shell", standIn, ...node(script)];
    const { stdout, signal } = await runCommand(args, { when });
    expect(signal).toBe("SIGKILL");
    const rank = Number(/rank (\d+)/.exec(stdout)?.[1]);
    // The test's own limit ends this where it doesn't.
    while (isAlive(rank)) await new Promise((resolve) => setTimeout(resolve, 20));
  });

  it("says what to try where a machine can't be reached", { timeout: limit }, async () => {
    const { code, stderr } = await runCommand(["launch", "--hosts", "a", "--remote-shell", unreachable, "true"]);
    expect(stderr).toContain(`try ${unreachable} a true`);
    expect(code).toBe(1);
  });

  it.each([
    ["", "is no machine and its ranks"],
    ["a:0", '"a:0" is no machine'],
    ["a:x", '"a:x" is no machine'],
    ["-oProxyCommand=x", "is no machine"],
    ["a;b", "is no machine"],
    ["a,,b", '"" is no machine'],
    ["a:1000,b:1000", "2000 ranks; at most 1024"],
    ["a,a", "a is there twice"],
  ])("refuses what is no list of machines: %j", async (hosts, message) => {
    const { code, stderr } = await launch(hosts, "true");
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it.each([
    [["--hosts", "a", "-n", "3", "true"], "cannot be used with"],
    [["--address", "a:1", "true"], "need --hosts"],
    [["--hosts", "a", "--address", "nocolon", "true"], '"nocolon" is no machine and its port'],
    [["--hosts", "a", "--address", "a:99999", "true"], '"a:99999" is no machine and its port'],
    [["--job", " ", "true"], "The name is empty"],
    [["--remote-shell", "ssh", "true"], "need --hosts"],
  ])("refuses options without effect, and what is no place or name: %j", async (args, message) => {
    const { code, stderr } = await runCommand(["launch", ...args]);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });
});
