import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { it } from '@jest/globals';
import { Agent } from 'undici';
import { parseCidr } from '../../src/common/cidr.js';
import type { Config } from '../../src/config/config.js';
import { Peer } from '../../src/failover/peer.js';
import { Votes } from '../../src/failover/votes.service.js';
import { listen } from '../support/bind.js';
import { startStandIn } from '../support/vendor.js';
import { until } from '../support/world.js';

it('one domain with many slow targets waits behind its own', async () => {
  const sockets = new Set<Socket>();
  // takes connections, and says nothing
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  const port = await listen(server);
  const config = { checkers: [], checkReferences: [], outboundDeny: [], outboundAllow: [parseCidr('127.0.0.0/8')] };
  const votes = new Votes(config as unknown as Config);
  const one = { port, path: null, expect_status: null, expect_body: null, timeout_s: 20, verify_tls: false };
  const ask = (domain: number, kind: 'tcp' | 'http') =>
    votes.own({ value: '127.0.0.1', name: 'x.example', check: { ...one, kind } }, domain);
  try {
    const slow = Array.from({ length: 200 }, () => ask(1, 'http'));
    await until('those of one domain have begun', async () => sockets.size >= 150);
    assert.equal((await ask(2, 'tcp')).up, true);
    // that of the other domain, too
    assert.equal(sockets.size, 151);
    server.on('connection', (socket) => socket.destroy());
    for (const socket of sockets) socket.destroy();
    const ups = (await Promise.all(slow)).map(({ up }) => up);
    assert.deepEqual(new Set(ups), new Set([false]));
    assert.equal(sockets.size, 201);
  } finally {
    server.close();
    await votes.onApplicationShutdown();
  }
});

it('another node is asked by how long the checks may take: a quick one does not wait for a slow one', async () => {
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
  const ask = (timeout_s: number) =>
    peer.ask({ value: '192.0.2.1', name: 'x.example', check: { ...check, timeout_s } });
  try {
    const verdicts = await Promise.all([1, 60, 1, 60, 1].map(ask));
    assert.deepEqual(asked.toSorted(), [
      [1, 1, 1],
      [60, 60],
    ]);
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
