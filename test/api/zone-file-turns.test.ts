import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { countLooks } from '../support/counting-clock.js';
import { type Answer, type Service, startService } from '../support/server.js';
import { addAccount, done, made } from '../support/world.js';

const RECORDS = 5000;
const ZONE = 'large.example';
/** requests that are answered one after the other before something long is */
const SERVED = 10;

describe(`a zone file of ${RECORDS} records`, () => {
  const root = mkdtempSync(join(tmpdir(), 'zoneward-zones-'));
  const path = join(root, `${ZONE}.zone`);
  const read = () => readFileSync(path, 'utf8');
  let service: Service;
  let undo: () => void;
  let account: number;
  let domain: number;

  beforeAll(async () => {
    const lines = Array.from({ length: RECORDS }, (_, i) => `h${i}\tA 10.1.${i >> 8}.${i & 255} ; number ${i}`);
    const head = ['; by hand', '$TTL 1h', '@ SOA ns mail 1 2 3 4 5', '  NS ns.example.net.', '$ORIGIN large.example.'];
    writeFileSync(path, [...head, ...lines, ''].join('\n'));
    service = await startService('sqlite', { ZONEFILE_DIR: root });
    undo = countLooks();
    account = await addAccount(service.admin, 'zonefile', {});
  });
  afterAll(async () => {
    undo?.();
    await service?.stop();
    rmSync(root, { recursive: true });
  });

  /** The answer of a long request, before which others were served all the time. */
  async function beside<A extends Answer>(long: Promise<A>): Promise<A> {
    let over = false;
    const end = () => {
      over = true;
    };
    long.then(end, end);
    let served = 0;
    while (!over) {
      done(await service.server.call('GET', '/health/live'));
      if (!over) served++;
    }
    const answer = await long;
    assert.ok(answer.status < 300, answer.msg);
    assert.ok(served >= SERVED, `${served} requests were served meanwhile`);
    return answer;
  }

  const change = (body: object) => service.admin.post(`/api/domains/${domain}/records`, body);

  it('is read beside other requests', async () => {
    assert.equal(done(await beside(service.admin.post(`/api/accounts/${account}/sync?wait=50`))).failed, 0);
    const [found] = done(await service.admin.get('/api/domains?keyword=large'));
    assert.equal(found.records_count, RECORDS + 1);
    domain = found.id;
  });

  it('is compared beside other requests', async () => {
    const path = `/api/domains/${domain}/records?refresh=true&limit=1` as const;
    assert.equal(done(await beside(service.admin.get(path))).total, RECORDS + 1);
  });

  it('is changed beside other requests, a line and the serial, each time by what the file holds then', async () => {
    const before = read();
    const first = { host: 'first', type: 'A', value: '192.0.2.1', ttl: 60 };
    made(await beside(change(first)));
    const serial = Number(/mail (\d+)/.exec(read())?.[1]);
    assert.equal(read(), `${before.replace('mail 1 ', `mail ${serial} `)}first.large.example. 60 IN A 192.0.2.1\n`);

    const foreign = read().replace('h7\tA 10.1.0.7 ;', 'h7\tA 198.51.100.7 ;').concat('; somebody was here\n');
    writeFileSync(path, foreign);
    made(await beside(change({ ...first, host: 'second' })));
    assert.equal(
      read(),
      `${foreign.replace(`mail ${serial} `, `mail ${serial + 1} `)}second.large.example. 60 IN A 192.0.2.1\n`,
    );
  });

  it('takes a list beside other requests', async () => {
    const lines = read().split('\n').length;
    const changes = Array.from({ length: 300 }, (_, i) => ({
      ...{ op: 'create', host: `list${i}`, type: 'A', value: '192.0.2.1' },
    }));
    const sent = service.admin.post(`/api/domains/${domain}/records/batch?wait=120`, { changes });
    const { outcomes } = done(await beside(sent));
    assert.equal(outcomes?.filter((outcome) => outcome.ok).length, changes.length);
    assert.equal(read().split('\n').length, lines + changes.length);
  });
});
