import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { startProgress } from "../../src/terminal/progress.js";

function recorder(): { stream: NodeJS.WriteStream; text: () => string } {
  const through = new PassThrough();
  return { stream: through as unknown as NodeJS.WriteStream, text: () => String(through.read() ?? "") };
}

it("writes plain lines into a pipe: at the beginning and at every tenth", () => {
  const { stream, text } = recorder();
  const progress = startProgress("Running", 200, stream);
  for (let done = 1; done <= 200; done += 1) progress.update(done, "all exact");
  progress.stop();
  const lines = text().trimEnd().split("\n");
  expect(lines).toHaveLength(11);
  expect(lines[0]).toBe("Running 0%  all exact");
  expect(lines[1]).toBe("Running 10%  all exact");
  expect(lines.at(-1)).toBe("Running 100%  all exact");
});

it("ends no line with spaces", () => {
  const { stream, text } = recorder();
  startProgress("Rounds", 2, stream).update(1);
  expect(text()).toBe("Rounds 50%\n");
});
