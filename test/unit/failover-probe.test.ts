import assert from 'node:assert/strict';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { it } from '@jest/globals';
import { connected, probe } from '../../src/monitoring/failover/checks/probe.js';
import { parseCidr } from '../../src/platform/common/cidr.js';
import { listen } from '../support/bind.js';

it('a process that was too busy to see an answer in time does not count the target as down', async () => {
  const sockets: Socket[] = [];
  // takes connections, and says nothing
  const server = createServer((socket) => void sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const check = { port, path: null, expect_status: null, expect_body: null, timeout_s: 1, verify_tls: false };
  const ask = (kind: 'tcp' | 'http') =>
    probe({ value: '127.0.0.1', name: 'x.example', check: { ...check, kind } }, [], [parseCidr('127.0.0.0/8')]);
  try {
    const busy = [ask('tcp'), ask('http')];
    await nextTurn();
    for (const end = performance.now() + 2000; performance.now() < end; );
    const [tcp, http] = await Promise.all(busy);
    assert.deepEqual([tcp?.up, tcp?.error], [true, null]);
    assert.deepEqual([http?.up, http?.error], [null, 'this node was too busy to hear an answer']);
    await assert.rejects(connected('127.0.0.1', port, AbortSignal.abort(new Error('over'))), /over/);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

it('finds a text in an answer that comes in pieces, within its first 64 KiB', async () => {
  let pieces: string[] = [];
  const server = createHttp(async (_request, response) => {
    for (const piece of pieces) {
      response.write(piece);
      await nextTurn();
    }
    response.end();
  });
  const port = await listen(server);
  const check = { kind: 'http', port, path: '/', expect_status: null, timeout_s: 20, verify_tls: false } as const;
  const ask = async (text: string, ...sent: string[]) => {
    pieces = sent;
    const subject = { value: '127.0.0.1', name: 'x.example', check: { ...check, expect_body: text } };
    return (await probe(subject, [], [parseCidr('127.0.0.0/8')])).error;
  };
  const MISSING = 'the answer lacks the expected text';
  const most = 'a'.repeat(65_536);
  try {
    assert.equal(await ask('is well', ...'all is well'), null);
    assert.equal(await ask('w', 'all', ' is w'), null);
    assert.equal(await ask('is well', 'all is', ' wel'), MISSING);
    assert.equal(await ask('well', most.slice(4), 'well'), null);
    assert.equal(await ask('well', most.slice(3), 'well'), MISSING);
    assert.equal(await ask('well', most, 'well'), MISSING);
  } finally {
    server.close();
  }
});
