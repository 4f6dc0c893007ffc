import { simulateLateRank, type ValleyPoint } from "@dfccl/simulator";
import { type EChartsOption, init } from "echarts";

const [width, height] = [900, 420];
const base: EChartsOption = {
  animation: false,
  backgroundColor: "#ffffff",
  color: ["#dc2626", "#2563eb", "#059669"],
  textStyle: { fontFamily: "system-ui, sans-serif" },
};

function render(option: EChartsOption): string {
  const chart = init(null, null, { renderer: "svg", ssr: true, width, height });
  try {
    chart.setOption({ ...base, ...option });
    return `${chart.renderToSVGString()}\n`;
  } finally {
    chart.dispose();
  }
}

/** Task-queue length and context switches of each collective on rank 0, rank 2 being late: DFCCL's Fig. 11. */
export function lateRankChart(): string {
  const results = simulateLateRank();
  const panels = [
    { name: "task-queue length", values: results.map(({ result }) => result.ranks[0]?.queueLengths ?? []) },
    {
      name: "context switches",
      values: results.map(({ result }) => {
        const rank = result.ranks[0];
        return Array.from(rank?.queueLengths ?? [], (_, i) => rank?.preemptionsOf[i] ?? 0);
      }),
    },
  ];
  return render({
    title: { text: `Rank 0, rank 2 being ${(results[0]?.lateNs ?? 0) / 1e6} ms late`, left: "center" },
    legend: { bottom: 4 },
    grid: panels.map((_, i) => ({ left: 70 + 430 * i, top: 70, width: 350, height: 250 })),
    xAxis: panels.map((_, gridIndex) => ({
      type: "value",
      gridIndex,
      name: "collective",
      nameLocation: "middle",
      nameGap: 28,
      max: 160,
      interval: 40,
    })),
    yAxis: panels.map(({ name }, gridIndex) => ({ type: "value", gridIndex, name })),
    series: panels.flatMap(({ values }, panel) =>
      values.map((series, i) => ({
        type: "line" as const,
        name: results[i]?.policy ?? "",
        xAxisIndex: panel,
        yAxisIndex: panel,
        showSymbol: false,
        step: "middle" as const,
        data: series.map((value, x) => [x, value]),
      })),
    ),
  });
}

/** Time over the spin threshold, a curve for each cost of a context switch. */
export function valleyChart(curves: readonly { readonly switchNs: number; readonly points: readonly ValleyPoint[] }[]): string {
  return render({
    title: { text: "Time over the spin threshold", left: "center" },
    legend: { bottom: 4 },
    grid: { left: 80, right: 40, top: 60, bottom: 90 },
    xAxis: { type: "log", logBase: 4, name: "spin threshold (polls)", nameLocation: "middle", nameGap: 30 },
    yAxis: { type: "log", name: "ms" },
    series: curves.map(({ switchNs, points }) => ({
      type: "line" as const,
      name: `a switch takes ${switchNs / 1000} µs`,
      data: points.map(({ threshold, endNs }) => [threshold, endNs / 1e6]),
    })),
  });
}
