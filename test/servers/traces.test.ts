import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { modulesRun } from '../support/bundled-modules.js';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { startProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { startTargets } from '../support/targets.js';
import { type StandIn, startStandIn } from '../support/vendor.js';
import { done, made, startWorld, until, type World } from '../support/world.js';

const KEY = 'Planted-Collector-Key-Walrus-52';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const traceparent = (flags: string) => ({ traceparent: `00-${TRACE}-${CALLER}-${flags}` });

/** Folder for the coverage of a service, from which the modules follow that it ran. */
const coverage = mkdtempSync(join(tmpdir(), 'zoneward-coverage-'));
afterAll(() => rmSync(coverage, { recursive: true, force: true }));

/** Packages of OpenTelemetry that a service ran, by their coverage. */
const telemetry = (folder: string) => [
  ...new Set(modulesRun(folder).flatMap((file) => /\/@opentelemetry\/([^/]+)/.exec(file)?.[1] ?? [])),
];

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number };
}
interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Attribute[];
  status: { code: number };
}
interface Traces {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Span[] }[] }[];
}

const plain = (list: readonly Attribute[]) =>
  Object.fromEntries(list.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
const bodies = ({ requests }: StandIn) => requests.map(({ body }) => body as Traces);
const spansAt = (collector: StandIn): Span[] =>
  bodies(collector)
    .flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans);
const [SERVER, CLIENT, ERROR] = [2, 3, 2];

for (const { kind, skip } of databases('sqlite')) {
  describeUnless(skip || noPowerdns)(`traces on ${kind}`, () => {
    let collector: StandIn;
    let world: World;
    const sent: string[] = [];

    beforeAll(async () => {
      collector = await startStandIn(() => ({ status: 200, body: {} }));
      const env = {
        OUTBOUND_ALLOW: '127.0.0.0/8',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: `x-key=${KEY}`,
        OTEL_SERVICE_NAME: 'dns-of-ours',
      };
      world = await startWorld(kind, { ...env, NODE_V8_COVERAGE: join(coverage, kind) }, 'sqlite', startProcess);
      const { admin, records } = world;
      const headers = { ...traceparent('01'), 'x-request-id': 'request-of-a-test' };
      const record = { host: 'planted-host', type: 'TXT', value: 'planted-value' };
      made(await admin.post(`${records}`, record, headers));
      done(await admin.get(`${records}?page=1&keyword=planted-query`));
      done(await admin.get(`${records}?refresh=true`, undefined, traceparent('00')));
      world.proxy.fault = async () => 'close';
      await admin.get(`${records}?refresh=true`);
      world.proxy.fault = null;
      await switched();
      sent.push(world.pdns.apiKey, world.token, KEY, 'planted-host', 'planted-value', 'planted-query', 'example.com');
      // at the end all that was made is handed over
      await world.server.stop();
    });
    afterAll(async () => {
      await world?.stop();
      await collector?.stop();
    });

    /** Has a rule of failover switch to its backup by itself. */
    const switched = async () => {
      const targets = await startTargets();
      await targets.up('127.0.7.2');
      try {
        const { admin, domain } = world;
        done(await admin.put(`/api/domains/${domain}/rrsets/planted-host/A`, { values: ['127.0.7.1'] }));
        const check = { kind: 'tcp', port: targets.port, interval_s: 1, timeout_s: 1, fall: 1, rise: 1 };
        const rule = { host: 'planted-host', type: 'A', primary: ['127.0.7.1'], backup: ['127.0.7.2'], check };
        const failover = `/api/domains/${domain}/failover` as const;
        done(await admin.post(failover, { enabled: true, rules: [rule] }));
        await until('it is told', async () => done(await admin.get(failover)).rules[0]?.state.active === 'backup');
      } finally {
        await targets.stop();
      }
    };

    it('each switch of failover is a trace of its own, outside the trace of the long job', () => {
      const spans = spansAt(collector);
      const [one, ...more] = spans.filter(({ name }) => name === 'failover switch');
      assert.deepEqual([one?.parentSpanId || undefined, more.length], [undefined, 0]);
      const parts = spans.filter(({ traceId }) => traceId === one?.traceId).map(({ name }) => name);
      for (const name of ['powerdns apply', 'transaction']) assert.ok(parts.includes(name), String(parts));
      for (const { spanId } of spans.filter(({ name }) => name === 'job failover.check'))
        assert.deepEqual(
          spans.filter(({ parentSpanId }) => parentSpanId === spanId).map(({ name }) => name),
          [],
        );
    });

    it('the write of a record is in the trace of its caller, with spans of the provider and the database', () => {
      const spans = spansAt(collector).filter(({ traceId }) => traceId === TRACE);
      const [request, ...more] = spans.filter(({ kind: of }) => of === SERVER);
      assert.deepEqual([request?.name, more.length], ['POST /api/domains/:id/records', 0]);
      assert.equal(request?.parentSpanId, CALLER);
      assert.deepEqual(plain(request?.attributes ?? []), {
        'http.request.method': 'POST',
        request_id: 'request-of-a-test',
        'http.route': '/api/domains/:id/records',
        'http.response.status_code': 201,
      });
      const calls = spans.filter(({ kind: of }) => of === CLIENT);
      assert.equal(calls.length, spans.length - 1);
      for (const { parentSpanId } of calls) assert.equal(parentSpanId, request?.spanId);
      const apply = calls.filter(({ name }) => name === 'powerdns apply');
      const told = { 'provider.kind': 'powerdns', 'provider.verb': 'apply', outcome: 'ok' };
      assert.deepEqual(
        apply.map(({ attributes }) => plain(attributes)),
        [told],
      );
      const transactions = calls.filter(({ name }) => name === 'transaction');
      assert.ok(transactions.length > 0);
      for (const { attributes } of transactions) assert.equal(plain(attributes)['db.system.name'], kind);
    });

    it('failures are marked, jobs have traces of their own, and a caller can turn off sampling', () => {
      const spans = spansAt(collector);
      const failed = spans.find(({ name, status }) => name === 'powerdns listRecords' && status.code === ERROR);
      assert.equal(plain(failed?.attributes ?? []).outcome, 'unavailable');
      const jobs = spans.filter(({ name }) => name.startsWith('job '));
      assert.ok(jobs.length > 0);
      for (const { parentSpanId } of jobs) assert.equal(parentSpanId ?? '', '');
      const refreshes = spans.filter(({ name }) => name === 'powerdns listRecords');
      // the one when the domain was added, the one that failed, and those before and behind the switch
      assert.equal(refreshes.length, 4);
    });

    it('spans contain no secrets and no queries, and the collector gets the configured headers and attributes', () => {
      for (const { headers, path } of collector.requests) {
        assert.equal(headers['x-key'], KEY);
        assert.equal(path, '/v1/traces');
      }
      const text = JSON.stringify(bodies(collector));
      for (const secret of sent) assert.equal(text.includes(secret), false, secret);
      const resource = plain(bodies(collector)[0]?.resourceSpans[0]?.resource.attributes ?? []);
      assert.equal(resource['service.name'], 'dns-of-ours');
      assert.equal(world.server.log.includes(KEY), false);
      const packages = telemetry(join(coverage, kind));
      for (const name of ['exporter-trace-otlp-http', 'sdk-trace']) assert.ok(packages.includes(name), name);
    });
  });
}

describe('traces', () => {
  it('no package is loaded without a collector', async () => {
    const service = await startProcess('sqlite', { NODE_V8_COVERAGE: join(coverage, 'off') });
    try {
      assert.equal(await service.server.stop(), 0);
      assert.deepEqual(telemetry(join(coverage, 'off')), ['api']);
    } finally {
      await service.stop();
    }
  });

  it('a failing collector affects nothing else, and is logged once', async () => {
    let status = 400;
    const collector = await startStandIn(() => ({ status, body: {} }));
    const service = await startProcess('sqlite', { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const lines = (words: string) => service.server.log.split(words).length - 1;
    const exports = async (more: number) => {
      const wanted = collector.requests.length + more;
      await until(`${more} exports`, async () => {
        done(await service.admin.get('/api/site'));
        return collector.requests.length >= wanted;
      });
    };
    try {
      await exports(3);
      assert.equal(lines('traces cannot be handed over'), 1);
      status = 200;
      await exports(1);
      await until('it is told', async () => lines('traces are handed over again') === 1);
      // it hangs up from now on
      await collector.stop();
      done(await service.admin.get('/api/site'));
      assert.equal(await service.server.stop(), 0);
    } finally {
      await service.stop();
      await collector.stop().catch(() => undefined);
    }
  });
});
