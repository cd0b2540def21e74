import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { PlanView } from '../../src/records/plans/plan.dto.js';
import type { Answer } from '../support/server.js';
import { addAccount, addDomain, done, ended, made, refused } from '../support/world.js';
import { type Body, type Files, startFiles } from '../support/zone-files.js';

const ZONE = 'loads.example';
const HEX = 'ab'.repeat(31);

/** One value of each class that name servers do not load, and the field that is named. */
const UNLOADABLE: [what: string, record: Body, field: string, message: RegExp][] = [
  ['a parameter', { host: 'v', type: 'HTTPS', value: '1 . port=99999' }, 'value', /parameter port/],
  ['auto hints', { host: 'v', type: 'SVCB', value: '1 . ipv4hint=auto' }, 'value', /parameter ipv4hint/],
  ['a digest', { host: 'v', type: 'SSHFP', value: `4 2 ${HEX}` }, 'value', /32 octets/],
  ['a location', { host: 'v', type: 'LOC', value: '42 N 71 W -100001m' }, 'value', /altitude/],
  ['a regexp', { host: 'v', type: 'NAPTR', value: '1 1 "u" "x" "!(a!b!" .' }, 'value', /regexp/],
  ['an empty URI', { host: 'v', type: 'URI', value: '1 1 ""' }, 'value', /target/],
  ['DS at the apex', { host: '@', type: 'DS', value: `1 13 2 ${HEX}ab` }, 'host', /apex/],
  ['an alias of itself', { host: 'v', type: 'CNAME', value: `v.${ZONE}.` }, 'value', /itself/],
  ['a null MX', { host: 'v', type: 'MX', value: '.', priority: 5 }, 'priority', /null MX/],
  ['typographic quotes', { host: 'v', type: 'CAA', value: '0 issue “ca.example.net”' }, 'value', /typographic/],
];

describe('values that name servers do not load', () => {
  let files: Files;
  beforeAll(async () => {
    files = await startFiles(ZONE);
  });
  afterAll(() => files?.stop());

  const base = () => `/api/domains/${files.domain}` as const;
  const messages = (answer: Answer) =>
    refused(answer, 400, 400001)
      .data.errors.map(({ path, message }) => `${path}: ${message}`)
      .join('\n');

  for (const [what, record, field, message] of UNLOADABLE)
    it(`${what} is rejected on every way into the zone`, async () => {
      const { admin, post, file, unchanged } = files;
      const { host, type, value, priority } = record as Record<string, string>;
      const answer = await unchanged(() => post(record), field);
      assert.match(messages(answer), message);
      const before = file();
      const batch = (body: object) => admin.post(`${files.records}/batch`, body) as Promise<Answer>;
      const plan = (body: object) => admin.post(`${base()}/plans`, body) as Promise<Answer>;
      const ways: [string, () => Promise<Answer>][] = [
        ['dry run', () => admin.post(`${files.records}?dry_run=true`, record)],
        ['atomic batch', () => batch({ changes: [{ op: 'create', ...record }], atomic: true })],
        ['plan of records', () => plan({ records: [record] })],
        ['plan of changes', () => plan({ changes: [{ op: 'create', ...record }] })],
        ['JSON', () => plan({ document: { format: 'json', text: JSON.stringify([record]) } })],
        ['CSV', () => plan({ document: { format: 'csv', text: csv(record) } })],
      ];
      if (host !== '@')
        ways.push(['record set', () => admin.put(`${base()}/rrsets/v/${type}`, { values: [{ value, priority }] })]);
      for (const [way, call] of ways) assert.match(messages(await call()), message, way);
      // a list that is not atomic reports the error at the failed change
      const list = await batch({ changes: [{ op: 'create', ...record }] });
      assert.match(JSON.stringify(list.data), message);
      assert.equal(file(), before);
    });

  const csv = (record: Body) => {
    const cell = (text: unknown) => `"${String(text ?? '').replaceAll('"', '""')}"`;
    const fields = ['host', 'type', 'value', 'priority'] as const;
    return `${fields.join()}\n${fields.map((field) => cell(record[field])).join()}\n`;
  };

  it('a null MX and another MX are rejected next to each other, whichever comes first', async () => {
    const { admin, post } = files;
    const none = made(await post({ host: 'nm', type: 'MX', value: '.' }));
    assert.equal(done(await admin.get(`${files.records}/${none.id}`)).priority, 0);
    const other = { host: 'nm', type: 'MX', value: 'mail.example.net', priority: 20 };
    assert.match(messages(await post(other)), /value: a null MX/);
    assert.match(messages(await admin.post(`${base()}/plans`, { records: [other] })), /a null MX/);
    made(await post({ host: 'mail', type: 'MX', value: 'mail.example.net' }));
    assert.match(messages(await post({ host: 'mail', type: 'MX', value: '.' })), /value: a null MX/);
    const set = (values: object[]) => admin.put(`${base()}/rrsets/nm/MX`, { values });
    assert.match(messages(await set([{ value: '.' }, { value: 'mail.example.net' }])), /a null MX/);
    // one takes the place of the other
    done(await set([{ value: 'mail.example.net', priority: 10 }]));
    done(await set([{ value: '.' }]));
    // a mail host that becomes the null MX loses its priority
    const only = made(await post({ host: 'one', type: 'MX', value: 'mail.example.net', priority: 10 }));
    assert.equal(done(await admin.put(`${files.records}/${only.id}`, { value: '.' })).priority, 0);
  });

  it('an update is checked as a creation is', async () => {
    const { admin, post } = files;
    const { id } = made(await post({ host: 'moved', type: 'CNAME', value: `target.${ZONE}.` }));
    assert.match(messages(await admin.put(`${files.records}/${id}`, { value: `moved.${ZONE}.` })), /itself/);
    assert.match(messages(await admin.put(`${files.records}/${id}`, { host: 'target' })), /itself/);
    const https = made(await post({ host: 'h', type: 'HTTPS', value: '1 . alpn=h2' }));
    assert.match(messages(await admin.put(`${files.records}/${https.id}`, { value: '1 . alpn=' })), /parameter alpn/);
  });

  it('a name that is no host name is written only where force names the guard', async () => {
    const { post, admin, file } = files;
    const bad = { host: 'foo_bar', type: 'A', value: '192.0.2.1' };
    const met = refused(await post(bad), 409, 409003).data as unknown as Pick<PlanView, 'guards'>;
    assert.deepEqual(
      met.guards.map(({ key, mode }) => [key, mode]),
      [['not_a_host_name', 'force']],
    );
    assert.match(met.guards[0]?.text ?? '', new RegExp(`foo_bar\\.${ZONE}`));
    made(await admin.post(`${files.records}?force=not_a_host_name`, bad));
    // the name is there already
    made(await post({ ...bad, value: '192.0.2.2' }));
    const plan = made(await admin.post(`${base()}/plans`, { records: [{ ...bad, host: '-x' }] }));
    refused(await admin.post(`/api/plans/${plan.id as number}/apply`), 409, 409003);
    ended(await admin.post(`/api/plans/${plan.id as number}/apply`, { force: ['not_a_host_name'] }));
    done(await admin.put(base(), { guards: { not_a_host_name: 'off' } }));
    made(await post({ host: 'mx', type: 'MX', value: '_mail.example.net' }));
    assert.match(file(), /^mx\.loads\.example\. \d+ IN MX 10 _mail/m);
  });

  it('a record that the provider holds anyway can be edited, disabled and deleted, and so can its siblings', async () => {
    const { admin, path, file, records } = files;
    writeFileSync(path(), `${file()}held 300 IN TLSA 3 1 1 abab\nheld 300 IN TLSA 3 1 1 ${HEX}ab\n`);
    const held = async () => done(await admin.get(`${records}?refresh=true&host=held`)).list;
    const [bad, good] = (await held()).toSorted((a, b) => a.value.length - b.value.length);
    assert.deepEqual([bad?.read_only, good?.read_only], [false, false]);
    const at = (row: typeof bad) => `${records}/${row?.id as number}` as const;
    done(await admin.put(at(good), { ttl: 600 }));
    done(await admin.put(at(bad), { ttl: 900 }));
    done(await admin.patch(`${at(bad)}/status`, { enabled: false }));
    done(await admin.patch(`${at(bad)}/status`, { enabled: true }));
    refused(await admin.put(at(bad), { value: '3 1 1 abcd' }), 400, 400001);
    done(await admin.delete(at(bad)));
    assert.deepEqual(
      (await held()).map(({ id }) => id),
      [good?.id],
    );
  });

  it('a short target is warned of with the full name, on every way', async () => {
    const { post, admin } = files;
    const short = { host: 'blog', type: 'CNAME', value: 'www' };
    const textIn = ({ guards }: Pick<PlanView, 'guards'>) =>
      guards.filter(({ key }) => key === 'short_target').map(({ mode, text }) => `${mode} ${text}`);
    const expected = [`warn The target is a top-level name: "www". Probably meant: "www.${ZONE}"`];
    for (const body of [
      { records: [short] },
      { document: { format: 'csv', text: 'host,type,value\nblog,CNAME,www\n' } },
      { document: { format: 'json', text: JSON.stringify([short]) } },
      { document: { format: 'octodns', text: 'blog:\n  type: CNAME\n  value: www.\n' } },
    ])
      assert.deepEqual(textIn(made(await admin.post(`${base()}/plans`, body))), expected, JSON.stringify(body));
    // a zone file has relative names
    const text = '$TTL 300\nblog CNAME www\n';
    const plan = made(await admin.post(`${base()}/plans`, { document: { format: 'zonefile', text } }));
    assert.deepEqual([textIn(plan), plan.changes[0]?.after?.value], [[], `www.${ZONE}`]);
    const answer = await post(short);
    assert.deepEqual([answer.status, answer.headers.get('warning-guard')], [201, 'short_target']);
  });

  it('a zone of RFC 2317 gets a SOA whose mailbox is a host name', async () => {
    const name = '0/25.1.168.192.in-addr.arpa';
    await addDomain(files.admin, await addAccount(files.admin, 'zonefile', { directory: 'reverse' }), name, true);
    const text = files.file(`reverse/${name.replace('/', '%2F')}`);
    assert.match(text, /SOA localhost\. hostmaster\.1\.168\.192\.in-addr\.arpa\. /);
  });
});
