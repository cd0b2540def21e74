// Draws the figures that benchmarks have written (BENCH_FIGURES, see figures.mjs) to a folder, one SVG a chart.
//   node bench/charts.mjs FIGURES FOLDER
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as echarts from 'echarts';

const [FIGURES, FOLDER] = process.argv.slice(2);
const [WIDTH, HEIGHT] = [920, 360];
/** Dark enough on white, and as many as a chart has series. */
const COLOURS = [
  ...['#1f5fbf', '#c2410c', '#2e7d32', '#7e3f9d', '#b7950b', '#00838f'],
  ...['#ad1457', '#5d4037', '#546e7a', '#9e9d24', '#000000', '#ef6c00'],
];

/** By name: its title, what its axis says, and `sizes` where both axes are sizes, drawn by powers of ten. */
const CHARTS = {
  lists: { title: 'Lists by token beside the plainest handlers', axis: 'requests a second' },
  creates: { title: 'Creates of records beside PowerDNS alone', axis: 'creates a second' },
  zone: { title: 'A zone of 100 000 records', axis: 'seconds of the processor' },
  memory: { title: 'Memory beside a zone of 100 000 records', axis: 'MiB at the peak' },
  growth: { title: 'How long an answer takes by the number of domains', axis: 'ms, the shortest', sizes: true },
  replicas: { title: 'Processes over one PostgreSQL', axis: 'requests a second' },
};

/** An SVG of the figures of one chart. */
function draw({ title, axis, sizes }, figures) {
  const names = [...new Set(figures.map(({ series }) => series))];
  const places = [...new Set(figures.map(({ x }) => x))];
  const series = names.map((name) => {
    const own = figures.filter((one) => one.series === name);
    const data = sizes
      ? own.map(({ x, value }) => [x, value])
      : places.map((place) => own.findLast(({ x }) => x === place)?.value ?? null);
    return { type: sizes ? 'line' : 'bar', name, data };
  });
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT });
  try {
    chart.setOption({
      animation: false,
      backgroundColor: '#ffffff',
      color: COLOURS,
      title: { text: title, left: 'center' },
      // below each other: how wide a text is drawn is not known here
      legend: { left: WIDTH - 275, top: 60, orient: 'vertical', type: 'plain' },
      grid: { left: 70, right: 290, top: 60, bottom: 40 },
      xAxis: sizes
        ? { type: 'log' }
        : {
            type: 'category',
            data: places,
            axisLabel: { interval: 0, width: (WIDTH - 360) / places.length - 12, overflow: 'break' },
          },
      yAxis: {
        type: sizes ? 'log' : 'value',
        name: axis,
        nameLocation: 'end',
        nameTextStyle: { align: 'left', padding: [0, 0, 0, -60] },
      },
      series,
    });
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}

const figures = readFileSync(FIGURES, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
mkdirSync(FOLDER, { recursive: true });
for (const [name, chart] of Object.entries(CHARTS)) {
  const own = figures.filter((one) => one.chart === name);
  if (own.length) writeFileSync(join(FOLDER, `${name}.svg`), `${draw(chart, own)}\n`);
}
