import type { BeginStage } from "./stages.js";

/**
 * Says nothing of what is over soon: once the time has passed, the stage that the work is at, and then each that begins.
 * @param startTimer - calls back when that time has passed.
 */
export function lateStages(say: (line: string) => void, startTimer: (passed: () => void) => void): BeginStage {
  let current: string | undefined;
  let isLate = false;
  startTimer(() => {
    isLate = true;
    if (current !== undefined) say(`${current} …\n`);
  });
  return (what) => {
    current = what;
    if (isLate) say(`${what} …\n`);
  };
}
