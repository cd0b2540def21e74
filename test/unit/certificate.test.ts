import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, it, jest } from '@jest/globals';
import { certificateOf } from '../../src/monitoring/expiry/certificate.js';
import { listen } from '../support/bind.js';

describe('the certificate of a host that shows none', () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on('error', () => undefined)));
  let port: number;
  beforeAll(async () => {
    port = await listen(server);
  });
  afterAll(() => {
    jest.useRealTimers();
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it('is not waited for longer than ten seconds, however slow the handshake is', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
    const asked = certificateOf('localhost', '127.0.0.1', port);
    await once(server, 'connection');
    for (let i = 0; i < 9; i++) {
      sockets[0]?.write(Buffer.of([22, 3, 3, 64, 0][i] ?? 0));
      jest.advanceTimersByTime(1000);
    }
    const first = await Promise.race([asked, Promise.resolve('still waiting')]);
    assert.equal(first, 'still waiting');
    jest.advanceTimersByTime(1001);
    await assert.rejects(asked, /it takes too long/);
  });

  it('is an error when it closes the connection', async () => {
    jest.useRealTimers();
    const asked = certificateOf('localhost', '127.0.0.1', port);
    await once(server, 'connection');
    sockets.at(-1)?.end();
    await assert.rejects(asked, /connection was closed|disconnected/);
  });
});
