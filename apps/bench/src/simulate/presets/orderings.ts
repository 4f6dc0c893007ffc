import { type OrderingResult, orderingWorkload, simulateOrderings } from "@dfccl/simulator";
import { bars, type Chart } from "../../charts/chart.js";
import { formatCount, formatCountOf } from "../../terminal/table.js";
import { nanoseconds, type PresetReport } from "../preset-report.js";

type OrderingRow = OrderingResult & { readonly ranksPerIsland: number };

const islandSizes = [8, 4];

/** Coordinators, fixed orders and preemption on one workload. */
export function reportOrderings(seed: number): PresetReport {
  const rows = islandSizes.flatMap((ranksPerIsland) =>
    simulateOrderings(seed, { ...orderingWorkload, ranksPerIsland }).map((row): OrderingRow => ({ ranksPerIsland, ...row })),
  );
  const groups = islandSizes.flatMap((size) => [false, true].map((has) => rowsOf(rows, size, has)));
  return {
    title: "Ways of ordering",
    lead: "160 all-reduces that become ready at slightly different times on each of 8 ranks, each ordering of DFCCL's section 2.5.",
    rows,
    tables: groups.map((group) => ({
      title: titleOf(group),
      header: ["ordering", "end", "collectives/s", "latency", "messages"],
      rows: group.map(({ ordering, finished, endNs, latencyNs, messages }) => [
        ordering,
        ...(finished
          ? [nanoseconds(endNs), (orderingWorkload.collectives / (endNs / 1e9)).toFixed(0), nanoseconds(latencyNs)]
          : ["deadlock", "–", "–"]),
        formatCount(messages),
      ]),
    })),
    charts: islandSizes.map((size) => latencyChart(rows, size)),
  };
}

function rowsOf(rows: readonly OrderingRow[], size: number, hasSynchronizations: boolean): readonly OrderingRow[] {
  return rows.filter((row) => row.ranksPerIsland === size && row.hasSynchronizations === hasSynchronizations);
}

function machines(size: number): string {
  return `${formatCountOf(orderingWorkload.ranks / size, "machine")} of ${formatCountOf(size, "rank")}`;
}

function titleOf([row]: readonly OrderingRow[]): string {
  return `${machines(row?.ranksPerIsland ?? 0)}, ${row?.hasSynchronizations ? "with" : "without"} synchronizations`;
}

/** What deadlocks has no bar. */
export function latencyChart(rows: readonly OrderingRow[], size: number): Chart {
  const [without, withThem] = [false, true].map((has) => rowsOf(rows, size, has));
  const latencies = (group: readonly OrderingRow[] | undefined) =>
    (group ?? []).map(({ finished, latencyNs }) => (finished ? latencyNs / 1e6 : null));
  return bars({
    name: `orderings-${orderingWorkload.ranks / size}`,
    title: `Latency from readiness on the last rank, ${machines(size)}; no bar: deadlock`,
    categories: (without ?? []).map(({ ordering }) => ordering),
    valueName: "ms",
    series: [
      { name: "without synchronizations", values: latencies(without) },
      { name: "with synchronizations", values: latencies(withThem) },
    ],
  });
}
