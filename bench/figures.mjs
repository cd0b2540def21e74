// What benchmarks measured, for charts.mjs: BENCH_FIGURES names a file, with a line for each.
import { appendFileSync } from 'node:fs';

const { BENCH_FIGURES } = process.env;

/**
 * One figure of a chart.
 * @param chart a name in charts.mjs
 * @param series what is drawn in one colour
 * @param x the size or the name that the figure is for
 */
export function figure(chart, series, x, value) {
  if (BENCH_FIGURES) appendFileSync(BENCH_FIGURES, `${JSON.stringify({ chart, series, x, value })}\n`);
}
