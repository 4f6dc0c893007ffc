// The workflows of .github are well-formed, and what they name is there. That they do what they should, only the service can show.
import { execFileSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from "@actions/workflow-parser";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { root } from "../lib/paths.mjs";
import { placeEngines } from "../place-engines.mjs";

const github = join(root, ".github");
const workflows = readdirSync(join(github, "workflows"));
const read = (...path) => readFileSync(join(github, ...path), "utf8");

/** What GitHub's own parser finds wrong, expressions included. */
async function faultsOf(name, content) {
  const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter());
  if (value) await convertWorkflowTemplate(context, value);
  return context.errors.getErrors().map(({ message }) => message);
}

const expression = (text) => `\${{ ${text} }}`;

/** The commands of all steps of a workflow. */
const commandsOf = (workflow) =>
  Object.values(workflow.jobs)
    .flatMap(({ steps }) => steps)
    .flatMap(({ run, with: options = {} }) => [run, options.version, options.publish])
    .filter((command) => typeof command === "string");

describe.each(workflows)("%s", (name) => {
  const workflow = parse(read("workflows", name));

  it("is a workflow", async () => {
    expect(await faultsOf(name, read("workflows", name))).toEqual([]);
  });

  it("names scripts and files that are there", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const commands = commandsOf(workflow);
    expect(commands).not.toEqual([]);
    for (const command of commands) {
      for (const [, script] of command.matchAll(/npm run ([\w:]+)/g)) expect(scripts).toHaveProperty([script]);
      for (const [file] of command.matchAll(/(?:scripts|examples)\/[\w./-]+/g))
        expect([file, existsSync(join(root, file))]).toEqual([file, true]);
      for (const [, tool] of command.matchAll(/npx (\w+)/g))
        expect([tool, existsSync(join(root, "node_modules", ".bin", tool))]).toEqual([tool, true]);
      for (const [, project] of command.matchAll(/--project ([\w-]+)/g))
        expect([project, existsSync(join(root, "packages", project, "vitest.config.ts"))]).toEqual([project, true]);
      if (command.startsWith(".ci/")) accessSync(join(root, command), constants.X_OK);
    }
  });

  it("gives no more than it must", () => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    for (const job of Object.values(workflow.jobs)) expect(job["timeout-minutes"]).toBeGreaterThan(0);
  });
});

it("GitHub's parser finds a misspelt key, and an expression that is none", async () => {
  const job = (text) => `on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: echo\n${text}`;
  expect(await faultsOf("good.yml", job(""))).toEqual([]);
  expect(await faultsOf("bad.yml", job("    time-out: 5\n"))).not.toEqual([]);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of GitHub's
  expect(await faultsOf("bad.yml", job("    name: ${{ nope( }}\n"))).not.toEqual([]);
});

describe("the release", () => {
  const { engine } = parse(read("workflows", "release.yml")).jobs;
  const platforms = engine.strategy.matrix.include.map(({ platform }) => platform);

  it("builds an engine for every package that carries one", () => {
    const carried = readdirSync(join(root, "packages")).filter((name) => name.startsWith("native-") && !name.endsWith("-cuda"));
    expect(platforms).toEqual(expect.arrayContaining(carried.map((name) => name.slice("native-".length))));
    expect(platforms).toEqual(["linux-x64-gnu", "linux-x64-musl", "linux-arm64-gnu", "darwin-arm64"]);
  });

  it("attaches to the published release all that the C library was packed into", () => {
    const { release, attach } = parse(read("workflows", "release.yml")).jobs;
    const packed = release.steps.find(
      ({ uses, with: options }) => uses?.startsWith("actions/upload-artifact@") && options.path === "build/c-package",
    );
    const action = release.steps.find(({ uses }) => uses?.startsWith("changesets/action@"));
    // What the action says of itself, and the artifact, come from steps that are there.
    expect(release.outputs).toEqual({
      published: expression(`steps.${action.id}.outputs.published`),
      packages: expression(`steps.${action.id}.outputs.publishedPackages`),
    });
    // The images of containers have no gh; a run that opened a pull request has published nothing.
    expect(attach).toMatchObject({ needs: "release", if: "needs.release.outputs.published == 'true'", permissions: { contents: "write" } });
    expect(attach).not.toHaveProperty("container");
    const [download, upload] = attach.steps;
    expect(download.with.name).toBe(packed.with.name);
    expect(upload.env).toEqual({
      VERSION: expression("fromJSON(needs.release.outputs.packages)[0].version"),
      GH_TOKEN: expression("secrets.GITHUB_TOKEN"),
    });

    const folder = mkdtempSync(join(tmpdir(), "dfccl-attach-"));
    try {
      const files = ["dfccl-1.2.3-linux-x64.tar.gz", "libdfccl-dev_1.2.3_amd64.deb", "libdfccl1_1.2.3_amd64.deb"];
      mkdirSync(join(folder, download.with.path));
      for (const file of files) writeFileSync(join(folder, download.with.path, file), "");
      writeFileSync(join(folder, "gh"), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
      const env = { PATH: `${folder}:${process.env.PATH}`, VERSION: "1.2.3", GH_TOKEN: "t", GITHUB_REPOSITORY: "someone/dfccl" };
      const given = execFileSync("bash", ["--noprofile", "--norc", "-e", "-c", upload.run], { cwd: folder, env, encoding: "utf8" })
        .trimEnd()
        .split("\n");
      const paths = files.map((file) => `${download.with.path}/${file}`);
      expect(given).toEqual(["release", "upload", "dfccl@1.2.3", ...paths, "--clobber", "--repo", "someone/dfccl"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("puts each into its package, and stops where one is missing", () => {
    const folder = mkdtempSync(join(tmpdir(), "dfccl-engines-"));
    try {
      const [workspace, engines] = [join(folder, "workspace"), join(folder, "engines")];
      for (const name of ["core", "native-a", "native-a-cuda"]) mkdirSync(join(workspace, "packages", name), { recursive: true });
      const refusal = "There is no engine, or not all of it, for packages/native-a in";
      for (const platform of ["b", "a"]) {
        mkdirSync(join(engines, platform, "bench"), { recursive: true });
        for (const file of ["dfccl.node", "bench/perf_bench"]) {
          if (platform === "a") expect(() => placeEngines(engines, workspace)).toThrow(refusal);
          writeFileSync(join(engines, platform, file), `${platform} ${file}`, { mode: 0o600 });
        }
      }
      expect(placeEngines(engines, workspace).map(({ outcome }) => outcome)).toEqual(["packages/native-a", "no package carries it yet"]);
      const placed = (file) => join(workspace, "packages", "native-a", file);
      expect(readFileSync(placed("dfccl.node"), "utf8")).toBe("a dfccl.node");
      expect(readFileSync(placed("bin/perf_bench"), "utf8")).toBe("a bench/perf_bench");
      accessSync(placed("bin/perf_bench"), constants.X_OK);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("what asks for bugs and wishes", () => {
  it.each(["bug.yml", "feature.yml"])("%s is a form", (name) => {
    const form = parse(read("ISSUE_TEMPLATE", name));
    expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String), labels: [expect.any(String)] });
    const fields = form.body.filter(({ type }) => type !== "markdown");
    for (const { type, id, attributes } of fields) {
      expect(["textarea", "input", "dropdown", "checkboxes"]).toContain(type);
      expect([id, attributes.label]).toEqual([expect.stringMatching(/^[\w-]+$/), expect.any(String)]);
      expect(type === "dropdown" ? attributes.options.length : 1).toBeGreaterThan(0);
    }
    expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
    expect(fields.some(({ validations }) => validations?.required)).toBe(true);
  });

  it("a bug report asks for the doctor and the flight record", () => {
    expect(read("ISSUE_TEMPLATE", "bug.yml")).toMatch(/dfccl doctor[\s\S]*DFCCL_FLIGHT_RECORD/);
  });
});
