import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { it } from '@jest/globals';
import { Agent } from 'undici';
import { Peer } from '../../src/monitoring/failover/checks/peer.js';
import { Votes } from '../../src/monitoring/failover/checks/votes.service.js';
import { parseCidr } from '../../src/platform/common/cidr.js';
import type { Config } from '../../src/platform/config/config.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { startStandIn } from '../support/vendor.js';
import { until } from '../support/world.js';

it('checks of many slow targets of one user wait for each other, and none is checked more often at once than allowed', async () => {
  const sockets = new Set<Socket>();
  const at = new Map<string, number>();
  // takes connections, and says nothing
  const server = createServer((socket) => {
    sockets.add(socket);
    at.set(String(socket.localAddress), (at.get(String(socket.localAddress)) ?? 0) + 1);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const { port } = server.address() as AddressInfo;
  const config = { checkers: [], checkReferences: [], outboundDeny: [], outboundAllow: [parseCidr('127.0.0.0/8')] };
  const votes = new Votes(config as unknown as Config, new Metrics());
  const one = { port, path: null, expect_status: null, expect_body: null, timeout_s: 60, verify_tls: false };
  const ask = (user: number, value: string, kind: 'tcp' | 'http' = 'http') =>
    votes.of({ value, name: 'x.example', check: { ...one, kind } }, user);
  try {
    const same = Array.from({ length: 50 }, () => ask(1, '127.1.0.1'));
    const slow = Array.from({ length: 450 }, (_, i) => ask(1, `127.1.${1 + (i >> 6)}.${1 + (i & 63)}`));
    await until('those of one user have begun', async () => sockets.size >= 400);
    assert.equal((await ask(2, '127.1.0.2', 'tcp')).up, true);
    // at the target that hangs, too
    assert.equal((await ask(2, '127.1.0.1', 'tcp')).up, true);
    assert.deepEqual([sockets.size, at.get('127.1.0.1')], [402, 11]);
    server.on('connection', (socket) => socket.destroy());
    for (const socket of sockets) socket.destroy();
    const ups = (await Promise.all([...same, ...slow])).map(({ up }) => up);
    assert.deepEqual(new Set(ups), new Set([false]));
    assert.equal(sockets.size, 502);
  } finally {
    server.close();
    await votes.onApplicationShutdown();
  }
});

it('calls to another node are grouped by timeout and owner: a quick check does not wait for a slow one', async () => {
  const asked: number[][] = [];
  const node = await startStandIn(({ body }) => {
    asked.push((body as { checks: { check: { timeout_s: number } }[] }).checks.map(({ check }) => check.timeout_s));
    return { status: 503 };
  });
  const agent = new Agent();
  const peer = new Peer(node.url, 'x'.repeat(32), agent);
  const check = {
    kind: 'tcp',
    port: 1,
    path: null,
    expect_status: null,
    expect_body: null,
    verify_tls: false,
  } as const;
  const ask = (timeout_s: number, user = 1) =>
    peer.ask({ value: '192.0.2.1', name: 'x.example', check: { ...check, timeout_s } }, user);
  try {
    const verdicts = await Promise.all([...[1, 60, 1, 60, 1].map((s) => ask(s)), ask(1, 2)]);
    assert.deepEqual(asked.toSorted(), [[1], [1, 1, 1], [60, 60]]);
    assert.deepEqual(new Set(verdicts.map(({ up }) => up)), new Set([null]));
    asked.length = 0;
    await Promise.all(Array.from({ length: 150 }, () => ask(1)));
    assert.deepEqual(
      asked.map((one) => one.length),
      [100, 50],
    );
  } finally {
    await agent.close();
    await node.stop();
  }
});
