/** One line of the table. */
export interface Row {
  readonly what: string;
  /** Median over the rounds, millions a second. */
  readonly median: number;
  /** Of the best round: on a busy machine nearer to what the code can do. */
  readonly best: number;
}

/** Calls `round`, which returns how long it took in milliseconds, several times; the first ones only warm up. */
export async function measure(
  what: string,
  operations: number,
  round: () => number | Promise<number>,
  { rounds = 30, warmUp = 10 } = {},
): Promise<Row> {
  const rates: number[] = [];
  for (let i = 0; i < warmUp + rounds; i += 1) {
    const milliseconds = await round();
    if (i >= warmUp) rates.push(operations / milliseconds / 1000);
  }
  rates.sort((a, b) => a - b);
  return { what, median: rates[Math.floor(rounds / 2)] ?? 0, best: rates[rounds - 1] ?? 0 };
}
