import { expect, it } from "vitest";
import { countReport, failuresOf } from "../lib/ctest-report.mjs";

// As ctest 3.25 writes it.
const report = `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="(empty)" tests="5" failures="2" disabled="0" skipped="1" time="0">
	<testcase name="network/links_test" classname="network/links_test" time="12.34732" status="fail">
		<failure message=""/>
		<system-out>first line
ERROR: CHECK( 1 &lt; 2 &amp;&amp; "x" ) is NOT correct!
[doctest] test cases: 3 | 2 passed | 1 failed | 0 skipped
</system-out>
	</testcase>
	<testcase name="fine" classname="fine" time="0.00387081" status="run">
		<system-out>[doctest] test cases: 4 | 4 passed | 0 failed | 0 skipped
</system-out>
	</testcase>
	<testcase name="plain" classname="plain" time="0.1" status="run">
		<system-out>what went well isn't told</system-out>
	</testcase>
	<testcase name="needs-root" classname="needs-root" time="0.00367743" status="notrun">
		<skipped message="SKIP_RETURN_CODE=77"/>
		<system-out>skipped: no
</system-out>
	</testcase>
	<testcase name="crashes" classname="crashes" time="0.00395566" status="fail">
		<failure message=""/>
		<system-out></system-out>
	</testcase>
</testsuite>`;

it("counts the cases that programs printed, and other programs as one each", () => {
  expect(countReport(report)).toEqual({ passed: 7, failed: 2, skipped: 1 });
});

it("takes a program's own count, which knows of cases that had no device", () => {
  const own = `<testcase name="one-device" classname="one-device" time="1" status="run">
		<system-out>[doctest] test cases: 7 | 7 passed | 0 failed | 46 skipped
6 passed, 0 failed, 1 skipped
</system-out>
	</testcase>`;
  expect(countReport(own)).toEqual({ passed: 6, failed: 0, skipped: 1 });
});

it("tells what those printed that failed, and nothing of the others", () => {
  expect(failuresOf(report)).toBe(`network/links_test failed after 12.3 s
first line
ERROR: CHECK( 1 < 2 && "x" ) is NOT correct!
[doctest] test cases: 3 | 2 passed | 1 failed | 0 skipped

crashes failed after 0.0 s`);
});

it("keeps the end of a long story", () => {
  const long = report.replace("first line\n", `${"much\n".repeat(500)}`);
  const lines = failuresOf(long).split("\n");
  expect(lines.length).toBeLessThan(60);
  expect(lines).toContain('ERROR: CHECK( 1 < 2 && "x" ) is NOT correct!');
  expect(failuresOf(long.replaceAll('status="fail"', 'status="run"').replaceAll('<failure message=""/>', ""))).toBe("");
});
