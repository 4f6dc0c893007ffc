/**
 * Waits until a moment of `performance.now()`, to some microseconds, in turns of the event loop: so a device computes while the
 * host is free. A timer alone would be late by a millisecond.
 */
export async function passUntil(moment: number): Promise<void> {
  const spare = 2;
  const left = moment - performance.now();
  if (left > spare) await new Promise((resolve) => setTimeout(resolve, left - spare));
  while (performance.now() < moment) await new Promise((resolve) => setImmediate(resolve));
}
