// What ctest's report in JUnit's format tells: how many tests went well, and what those printed that failed.

const testCases = (xml) =>
  [...xml.matchAll(/<testcase ([^>]*)>([\s\S]*?)<\/testcase>/g)].map(([, attributes, body]) => {
    const hasFailed = body.includes("<failure");
    return {
      attributes,
      body,
      isFine: /status="run"/.test(attributes) && !hasFailed,
      isSkipped: /status="(?:disabled|notrun)"/.test(attributes) && !hasFailed,
    };
  });

/** Sums doctest's test cases where a program printed them; any other program counts as one test. A program's own count comes first: doctest takes a case that had no device for passed, and those that a filter leaves out for skipped. */
export function countReport(xml) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const { body, isFine, isSkipped } of testCases(xml)) {
    const cases =
      body.match(/^(\d+) passed, (\d+) failed, (\d+) skipped$/m) ??
      body.match(/test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed(?: \|\s*(\d+) skipped)?/);
    if (isSkipped) sum.skipped += 1;
    else if (!cases) sum[isFine ? "passed" : "failed"] += 1;
    else {
      sum.passed += Number(cases[1]);
      // A program that crashed or timed out after its summary has failed, whatever the summary says.
      sum.failed += isFine ? Number(cases[2]) : Math.max(1, Number(cases[2]));
      sum.skipped += Number(cases[3] ?? 0);
    }
  }
  return sum;
}

/** The tests that failed, each with the end of what it printed, in so many lines altogether. */
export function failuresOf(xml, lines = 55) {
  const failed = testCases(xml).filter(({ isFine, isSkipped }) => !isFine && !isSkipped);
  const each = Math.max(8, Math.floor(lines / failed.length) - 2);
  return failed
    .map(({ attributes, body }) => {
      const [, name] = attributes.match(/(?:^| )name="([^"]*)"/) ?? [];
      const [, seconds] = attributes.match(/(?:^| )time="([^"]*)"/) ?? [];
      const [, printed = ""] = body.match(/<system-out>([\s\S]*?)<\/system-out>/) ?? [];
      const end = decoded(printed).trimEnd().split("\n").slice(-each).join("\n");
      return `${name} failed after ${Number(seconds).toFixed(1)} s\n${end}`.trimEnd();
    })
    .join("\n\n");
}

const entities = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
const decoded = (text) => text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name) => entities[name]);
