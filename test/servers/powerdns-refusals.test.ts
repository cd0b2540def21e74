import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import fc from 'fast-check';
import { noPowerdns } from '../support/powerdns.js';
import { seedOf } from '../support/seed.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused, startWorld, type World } from '../support/world.js';

const SEED = seedOf('refusals of PowerDNS');
const label = fc.oneof(
  fc.stringMatching(/^[a-z0-9_-]{1,8}$/),
  fc.stringMatching(/^xn--[a-z0-9-]{0,8}$/),
  fc.stringMatching(/^[!#%&'+,/:<=>?[\]^`{|}~a-z0-9_-]{1,4}$/),
  fc.constantFrom('_mail', 'a-', '-a', 'bücher', 'ß', '*', '1', 'x'.repeat(63)),
);
const name = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'));
/** A value of each type that holds a name. */
const VALUES: Record<string, (name: string) => string> = {
  ...Object.fromEntries(['MX', 'NS', 'CNAME', 'PTR', 'DNAME', 'ALIAS'].map((type) => [type, (target) => target])),
  SRV: (target) => `5 5060 ${target}`,
  SVCB: (target) => `1 ${target}`,
  HTTPS: (target) => `1 ${target}`,
  NAPTR: (target) => `1 1 "s" "" "" ${target}`,
  RP: (target) => `${target} ${target}`,
};

describeUnless(noPowerdns)('what PowerDNS and zone files do not hold', () => {
  let world: World;
  let files: `/api/domains/${number}/records`;

  beforeAll(async () => {
    world = await startWorld();
    const account = await addAccount(world.admin, 'zonefile', {});
    files = `/api/domains/${await addDomain(world.admin, account, 'files.example', true)}/records`;
  });
  afterAll(() => world?.stop());

  it('is refused by its field, whatever the name in a host or a value', async () => {
    let [taken, wrong, at] = [0, 0, 0];
    const cases = fc.tuple(fc.constantFrom(...Object.keys(VALUES)), name, fc.oneof(fc.constant('plain'), label));
    const judge = async ([type, target, host]: [string, string, string]) => {
      const value = VALUES[type]?.(target);
      for (const path of [world.records, files]) {
        const answer = await world.admin.post(`${path}?force=not_a_host_name`, {
          host: `${host}.n${at++}`,
          type,
          value,
        });
        if (answer.status === 201) taken++;
        else {
          wrong++;
          assert.match(refused(answer, 400, 400001).data.errors[0]?.path ?? '', /^(value|host|type)$/);
        }
      }
    };
    await fc.assert(fc.asyncProperty(cases, judge), { seed: SEED, numRuns: 120 });
    assert.ok(taken > 20 && wrong > 20, `${taken} taken, ${wrong} refused`);
    await world.agree();
  });

  it('a target with "_" or a hyphen at its end is refused at PowerDNS and taken by files with force', async () => {
    for (const [type, value] of [
      ['MX', '_mail.example.net'],
      ['MX', 'xn--.example.net'],
      ['NS', 'a_b.example.net'],
      ['SRV', '1 2 a-.example.net'],
    ]) {
      const { data } = refused(await world.admin.post(world.records, { host: 'under', type, value }), 400, 400001);
      assert.deepEqual([data.errors[0].path, data.errors[0].code], ['value', 'unsupported']);
      refused(await world.admin.post(files, { host: 'under', type, value }), 409, 409003);
      made(await world.admin.post(`${files}?force=not_a_host_name`, { host: 'under', type, value }));
    }
    made(await world.admin.post(world.records, { host: 'idn', type: 'MX', value: 'bücher.example.net' }));
    made(await world.admin.post(world.records, { host: 'null', type: 'MX', value: '.', priority: 0 }));
    await world.agree();
  });

  it('a disabled record beside a CNAME is refused at PowerDNS, as it refuses it', async () => {
    const { admin, records } = world;
    const off = { enabled: false };
    const alias = made(await admin.post(records, { host: 'alias', type: 'CNAME', value: 'a.example.net' }));
    const beside = { host: 'alias', type: 'A', value: '192.0.2.1', ...off };
    const { data } = refused(await admin.post(records, beside), 400, 400001);
    assert.deepEqual([data.errors[0].path, data.errors[0].params], ['type', { id: alias.id }]);
    const second = { host: 'alias', type: 'CNAME', value: 'b.example.net' };
    refused(await admin.post(records, { ...second, ...off }), 400, 400001);
    done(await admin.patch(`${records}/${alias.id}/status`, off));
    refused(await admin.post(records, second), 400, 400001);
    // what is disabled is in nobody's way, until it is changed beside what is in DNS
    made(await admin.post(records, { ...beside, enabled: true }));
    refused(await admin.put(`${records}/${alias.id}`, { value: 'c.example.net' }), 400, 400001);
    refused(await admin.patch(`${records}/${alias.id}/status`, { enabled: true }), 400, 400001);
    done(await admin.delete(`${records}/${alias.id}`));
    await world.agree();
  });
});
