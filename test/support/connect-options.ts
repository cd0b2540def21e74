import { Metrics } from '../../src/platform/metrics/metrics.js';
import { outboundAgent } from '../../src/platform/outbound/agent.js';
import { Traces } from '../../src/platform/traces/traces.js';
import { SILENT } from './silent.js';

/** What a provider is connected with, with outbound rules that deny nothing. */
export const connectOptions = (timeoutMs: number) => ({
  agent: outboundAgent([], timeoutMs),
  deny: [],
  timeoutMs,
  installation: {},
  metrics: new Metrics(),
  traces: new Traces(),
  logger: SILENT,
});
