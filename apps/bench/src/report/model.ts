/** A drawing, as plain data: what draws it runs in a browser. */
export interface Chart {
  readonly id: string;
  readonly title: string;
  readonly kind: "lines" | "bars";
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
}

export interface Axis {
  readonly name: string;
  readonly isLog?: boolean;
  /** How values read. */
  readonly format: "bytes" | "micros" | "nanos" | "number" | "gigabytesPerSecond" | "text";
  /** What stands along a bar chart, in order. */
  readonly categories?: readonly string[];
}

export interface Series {
  readonly name: string;
  /** What can be switched off together, all over the report. */
  readonly group: string;
  /** Of a line: [x, y]. Of bars: one y a category, null where there is none. */
  readonly points: readonly (readonly [number, number] | number | null)[];
  readonly isDashed?: boolean;
  /** What its colour stands for, where that isn't the group: dashed or not, a line has one colour. */
  readonly line?: string;
}

/** One result file, as the report shows it. */
export interface Section {
  readonly id: string;
  readonly title: string;
  /** Machine, command, verdict: a line each. */
  readonly facts: readonly string[];
  readonly charts: readonly Chart[];
}

export interface Report {
  readonly title: string;
  readonly sections: readonly Section[];
}
