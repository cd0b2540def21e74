import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { DocumentFormat, ExportFormat } from '../../src/documents/document.js';
import { EXPORT_FORMATS } from '../../src/documents/document.js';
import { parseDocument } from '../../src/documents/parse-document.js';
import { databases } from '../support/databases.js';
import { type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, ended, made } from '../support/world.js';

const ZONE = 'export.example';
/** More than two pages of what is read at once, several of one host across their borders. */
const HOSTS = 300;
const TYPES: Record<ExportFormat, [type: string, extension: string]> = {
  zonefile: ['text/dns; charset=utf-8', 'zone'],
  csv: ['text/csv; charset=utf-8; header=present', 'csv'],
  json: ['application/json; charset=utf-8', 'json'],
  octodns: ['application/yaml; charset=utf-8', 'yaml'],
  dnscontrol: ['text/javascript; charset=utf-8', 'js'],
  terraform: ['text/plain; charset=utf-8', 'tf'],
};

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`an export of a domain on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let admin: Client;
    let domain: number;
    const fetched = (query: string, secret = service.token, headers = {}) =>
      fetch(`${service.server.url}/api/domains/${domain}/export${query}`, {
        headers: { authorization: `Bearer ${secret}`, ...headers },
      });
    const text = async (format: ExportFormat, secret?: string) => {
      const answer = await fetched(`?format=${format}`, secret);
      assert.equal(answer.status, 200);
      return answer.text();
    };
    const listed = async () => {
      const pages = [];
      for (let page = 1; page < 9; page++)
        pages.push(...done(await admin.get(`/api/domains/${domain}/records?sort=host&limit=500&page=${page}`)).list);
      return pages;
    };

    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      const account = await addAccount(admin, 'zonefile', {});
      domain = await addDomain(admin, account, ZONE, true);
      const changes = Array.from({ length: HOSTS }, (_, i) => [
        { op: 'create', host: `h${i}`, type: 'A', value: `192.0.2.${i % 250}`, ttl: 300 },
        { op: 'create', host: `h${i}`, type: 'TXT', value: `"${i}"; ü, 'x'\\`, ttl: 300, remark: `=${i}` },
        { op: 'create', host: `h${i}`, type: 'MX', value: 'mail', priority: i, ttl: 60 },
        { op: 'create', host: `h${i}`, type: 'A', value: `198.51.100.${i % 250}`, ttl: 300 },
      ]).flat();
      // a list of more than 200 changes goes on behind its answer
      for (let i = 0; i < changes.length; i += 200)
        ended(await admin.post(`/api/domains/${domain}/records/batch`, { changes: changes.slice(i, i + 200) }));
      const off = { host: 'off', type: 'A', value: '192.0.2.1', enabled: false };
      made(await admin.post(`/api/domains/${domain}/records`, off));
    });
    afterAll(() => service?.stop());

    it('contains what the list shows, and is read back', async () => {
      const all = await listed();
      assert.equal(all.length, HOSTS * 4 + 2);
      const lines = (list: object[], ...fields: string[]) =>
        list
          .map((one) => JSON.stringify(fields.map((field) => (one as Record<string, unknown>)[field] ?? null)))
          .sort();
      const FIELDS = ['host', 'type', 'value', 'ttl', 'priority', 'enabled'];
      for (const format of ['zonefile', 'csv', 'json', 'octodns'] satisfies DocumentFormat[]) {
        const { records, errors } = await parseDocument(format, await text(format), ZONE);
        assert.deepEqual(errors, []);
        const seen = records.map(({ record, input }) => ({ ...record, value: input.value, remark: input.remark }));
        const held = format === 'octodns' ? all.filter((r) => r.enabled) : all;
        const kept = format === 'csv' || format === 'json' ? [...FIELDS, 'remark'] : FIELDS;
        const shown = held.map((r) => ({ ...r, remark: r.remark || null }));
        assert.deepEqual(lines(seen, ...kept), lines(shown, ...kept), format);
      }
      const hosts: string[] = JSON.parse(await text('json')).map((r: { host: string }) => r.host);
      assert.deepEqual(hosts, hosts.toSorted());
      const count = (all: string, pattern: RegExp) => all.match(pattern)?.length;
      assert.equal(count(await text('dnscontrol'), /^ {2}(A|TXT|MX|NAMESERVER)\(/gm), HOSTS * 4 + 1);
      assert.equal(count(await text('terraform'), /^resource /gm), HOSTS * 3 + 1);
    });

    it('is a file of its type, with the tag of the list', async () => {
      const list = await fetch(`${service.server.url}/api/domains/${domain}/records?limit=1`, {
        headers: { authorization: `Bearer ${service.token}` },
      });
      const tag = list.headers.get('etag');
      for (const format of EXPORT_FORMATS) {
        const answer = await fetched(`?format=${format}`);
        const [type, extension] = TYPES[format];
        assert.equal(answer.headers.get('content-type'), type);
        assert.equal(answer.headers.get('content-disposition'), `attachment; filename="${ZONE}.${extension}"`);
        assert.equal(answer.headers.get('etag'), tag);
        await answer.text();
      }
      // with a condition, fetch asks for no cache unless it is told something else
      const known = { 'if-none-match': tag as string, 'cache-control': 'max-age=0' };
      const again = await fetched('?format=csv', service.token, known);
      assert.deepEqual([again.status, await again.text()], [304, '']);
      const other = await fetched('?format=csv', service.token, { 'if-none-match': '"other"' });
      assert.equal(other.status, 200);
      await other.text();
    });

    it('has a form that is named, and nothing else', async () => {
      for (const query of ['', '?format=', '?format=xml', '?format=csv&format=json', '?format=csv&page=1']) {
        const answer = await fetched(query);
        assert.equal(answer.status, 400, query);
        assert.equal(((await answer.json()) as { code: number }).code, 400001);
      }
    });

    it('shows a token with rules what its list shows', async () => {
      const RULES = [
        [{ effect: 'allow', hosts: ['h1', 'h7'], types: ['TXT'] }],
        // what SQL cannot say
        [{ effect: 'allow', hosts: ['h*1'], types: ['A', 'MX'] }],
        [
          { effect: 'allow', types: ['A'] },
          { effect: 'deny', hosts: ['h2*'] },
        ],
        [{ effect: 'allow', hosts: ['nothing'] }],
      ];
      for (const rules of RULES) {
        const { token } = made(await admin.post('/api/tokens', { name: 'narrow', rules }));
        const own = service.server.as(token);
        const list = done(await own.get(`/api/domains/${domain}/records`)).list;
        const seen = JSON.parse(await text('json', token)) as { host: string; value: string }[];
        const lines = (all: { host: string; value: string }[]) => all.map((r) => `${r.host} ${r.value}`).sort();
        assert.deepEqual(lines(seen), lines(list));
        assert.equal(list.length > 0, !JSON.stringify(rules).includes('nothing'));
      }
      const { token } = made(await admin.post('/api/tokens', { name: 'x', allowed_services: ['domains:read'] }));
      assert.equal((await fetched('?format=csv', token)).status, 403);
    });
  });
}
