import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { isSigned, NODE, SIGNATURE, sign, TIMESTAMP } from '../../src/monitoring/failover/checks/signature.js';
import { ServerProcess, type Service, startService } from '../support/server.js';
import { startTargets, type Targets } from '../support/targets.js';
import { addAccount, addDomain, done, refused, until } from '../support/world.js';

const SECRET = 'the-same-secret-of-all-checkers-01234567';
const [P1, B1, REFERENCE] = ['127.0.6.1', '127.0.6.2', '127.0.6.3'] as const;

describe('failover with three nodes that vote', () => {
  let targets: Targets;
  let nodes: Service[];
  let main: Service;
  let domain: number;

  beforeAll(async () => {
    targets = await startTargets();
    await targets.up(P1, B1, REFERENCE);
    const env = { OUTBOUND_ALLOW: '127.0.0.0/8', CHECKER_SECRET: SECRET };
    nodes = [await startService('sqlite', env), await startService('sqlite', env)];
    const CHECKERS = nodes.map(({ server }) => server.url).join(',');
    const CHECK_REFERENCES = `${REFERENCE}:${targets.port}`;
    main = await startService('sqlite', { ...env, CHECKERS, CHECK_REFERENCES });
    domain = await addDomain(main.admin, await addAccount(main.admin, 'zonefile', {}), 'quorum.example', true);
    done(await main.admin.put(`/api/domains/${domain}/rrsets/www/A`, { values: [P1] }));
    const check = { kind: 'tcp', port: targets.port, interval_s: 1, timeout_s: 1, fall: 2, rise: 1 };
    const rules = [{ host: 'www', type: 'A', primary: [P1], backup: [B1], check }];
    done(await main.admin.post(`/api/domains/${domain}/failover`, { enabled: true, rules }));
  });
  afterAll(async () => {
    for (const one of [main, ...(nodes ?? [])]) await one?.stop();
    await targets?.stop();
  });

  const state = async () => {
    const [rule] = done(await main.admin.get(`/api/domains/${domain}/failover`)).rules;
    return rule?.state as NonNullable<typeof rule>['state'];
  };
  const values = async () =>
    done(await main.admin.get(`/api/domains/${domain}/rrsets/www/A`)).values.map((v) => v.value);
  const is = (value: string, what: string, fits: (error: string | null, up: boolean | null) => boolean) =>
    until(what, async () => {
      const one = (await state()).values.find((of) => of.value === value);
      return fits(one?.last_error ?? null, one?.up ?? null);
    });

  it('each check is made by all nodes', async () => {
    await is(P1, 'it is up', (_, up) => up === true);
    const before = targets.seen.get(P1) ?? 0;
    const times = new Set([(await state()).values[0]?.last_check_at]);
    await until('eight more checks', async () => times.add((await state()).values[0]?.last_check_at).size > 8);
    // the first of the eight may have begun before; with two nodes there are 18 at most
    assert.ok((targets.seen.get(P1) ?? 0) - before >= 7 * 3);
  });

  it('a node that has lost its own network does not vote, and the others decide', async () => {
    await targets.down(REFERENCE, P1);
    await until('it was switched', async () => String(await values()) === B1);
    await is(P1, 'two have voted', (error, up) => up === false && error === 'connection refused');
    await targets.up(REFERENCE, P1);
    await until('it was switched back', async () => String(await values()) === P1);
  });

  it('nothing is switched where too few nodes vote', async () => {
    await targets.down(REFERENCE);
    await nodes[0]?.server.stop();
    await targets.down(P1);
    await is(P1, 'one of three votes', (error) => /^no quorum: 1 of 3 checkers voted/.test(error ?? ''));
    const { switches } = await state();
    const times = new Set<unknown>();
    await until('it was checked some times', async () => times.add((await state()).values[0]?.last_check_at).size > 3);
    assert.deepEqual([await values(), (await state()).switches, (await state()).active], [[P1], switches, 'primary']);
    // what comes back counts: two of three are enough
    await targets.up(REFERENCE);
    await until('it was switched', async () => String(await values()) === B1);
  });

  it('questions are answered once, if they are signed with the secret, and answers are signed, too', async () => {
    const server = nodes[1]?.server as Service['server'];
    const check = { kind: 'tcp', port: targets.port, path: null, expect_status: null, expect_body: null };
    // a node of another version may ask with more
    const more = { timeout_s: 1, verify_tls: false, interval_s: 'x', of_later_days: { a: 1 } };
    const body = {
      checks: [B1, P1, '169.254.1.1'].map((value) => ({ value, name: 'x.example', check: { ...check, ...more } })),
    };
    const signed = (at: number, secret = SECRET, of: object = body, node = '') => ({
      [TIMESTAMP]: String(at),
      [NODE]: node,
      [SIGNATURE]: sign(secret, `${at}.${node}`, JSON.stringify(of)),
    });
    const ask = (headers: Record<string, string>, of = server) =>
      of.call('POST', '/api/checks', body, undefined, headers);
    // a question without the name of the node is refused with that name, signed, and nothing more
    const unnamed = signed(Date.now());
    const told = refused(await ask(unnamed), 401, 401001).headers;
    const node = String(told.get(NODE));
    assert.match(node, /^[0-9a-f]{32}$/);
    assert.ok(isSigned(SECRET, unnamed[SIGNATURE] as string, node, String(told.get(SIGNATURE))));
    const headers = signed(Date.now(), SECRET, body, node);
    // a question for another node is not answered, and a changed name breaks the signature
    const other = main.server;
    refused(await ask(headers, other), 401, 401001);
    const another = String(refused(await ask(signed(Date.now()), other), 401, 401001).headers.get(NODE));
    assert.notEqual(another, node);
    refused(await ask({ ...headers, [NODE]: another }, other), 401, 401001);
    const answer = await ask(headers);
    const { votes } = done(answer) as { votes: { up: boolean | null; error: string | null }[] };
    assert.deepEqual(
      votes.map(({ up }) => up),
      [true, false, false],
    );
    assert.match(votes[2]?.error ?? '', /not allowed \(outbound rules\)/);
    assert.ok(
      isSigned(SECRET, String(headers[SIGNATURE]), JSON.stringify(votes), String(answer.headers.get(SIGNATURE))),
    );
    refused(await ask(headers), 401, 401001);
    // nor does a replica of the node, which shares its database
    const replica = await ServerProcess.start(
      { CHECKER_SECRET: SECRET, DATABASE_URL: nodes[1]?.databaseUrl as string },
      server.dataDir,
    );
    try {
      refused(await ask(headers, replica), 401, 401001);
      done(await ask(signed(Date.now(), SECRET, body, node), replica));
    } finally {
      await replica.stop();
    }
    refused(await ask({}), 401, 401001);
    refused(await ask(signed(Date.now(), 'x'.repeat(32), body, node)), 401, 401001);
    refused(await ask(signed(Date.now(), SECRET, { checks: [] }, node)), 401, 401001);
    refused(await ask(signed(Date.now() - 61_000, SECRET, body, node)), 401, 401001);
    const without = await startService('sqlite');
    try {
      refused(await without.server.call('POST', '/api/checks', body, undefined, signed(Date.now())), 404, 404001);
    } finally {
      await without.stop();
    }
  });
});
