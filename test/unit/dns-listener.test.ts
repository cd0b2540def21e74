import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { encode, OPCODE, TYPE } from '../../src/dns/wire.js';
import { DnsListener } from '../../src/doors/rfc2136/listener.service.js';
import type { Rfc2136Service } from '../../src/doors/rfc2136/rfc2136.service.js';
import type { Config } from '../../src/platform/config/config.js';
import { frame, framed } from '../../src/platform/dns-client/stream.js';
import { freePort } from '../support/bind.js';
import { countLooks } from '../support/counting-clock.js';
import { tcp } from '../support/dns-messages.js';
import { SILENT } from '../support/silent.js';

const MESSAGES = 2000;

/** Answers all from memory, as a database in this process does. */
const service = {
  isOpen: async () => true,
  isStrangerRefused: async () => false,
  soaAbove: async () => null,
  broken: () => undefined,
} as unknown as Rfc2136Service;

describe('the listener for DNS messages', () => {
  let undo: () => void;
  let listener: DnsListener;
  let port: number;
  beforeAll(async () => {
    undo = countLooks();
    port = await freePort();
    listener = new DnsListener({ dns: { port, host: '127.0.0.1' } } as Config, service, SILENT);
    await listener.onApplicationBootstrap();
  });
  afterAll(async () => {
    undo();
    await listener.beforeApplicationShutdown();
  });

  it('answers messages that come at once on one connection a piece a turn of the event loop', async () => {
    const one = frame(encode(1, OPCODE.QUERY, { name: 'example.com', type: TYPE.SOA }));
    const socket = await tcp(port);
    let turns = 0;
    let handle = setImmediate(function again() {
      turns++;
      handle = setImmediate(again);
    });
    socket.write(Buffer.concat(Array.from({ length: MESSAGES }, () => one)));
    let answers = 0;
    for await (const _ of framed(socket, 10_000)) if (++answers === MESSAGES) break;
    clearImmediate(handle);
    socket.destroy();
    assert.equal(answers, MESSAGES);
    assert.ok(turns > 60, `${turns} turns`);
  });
});
