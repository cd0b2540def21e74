// Loaded into the service with `--import`: reports the event loop delay to its parent on request.
import { monitorEventLoopDelay } from 'node:perf_hooks';

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const ms = (ns) => Math.round(ns / 1e4) / 100;
process.on('SIGUSR2', () => {
  const told = { p50: ms(delay.percentile(50)), p99: ms(delay.percentile(99)), max: ms(delay.max) };
  delay.reset();
  process.stderr.write(`${JSON.stringify({ msg: 'loop delay', ...told })}\n`);
});
