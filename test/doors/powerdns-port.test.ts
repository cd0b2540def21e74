import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { freePort } from '../support/bind.js';
import { say, tokenOf } from '../support/doors.js';
import { ServerProcess, startProcess } from '../support/server.js';
import { done, until } from '../support/world.js';

describe('the port of the door powerdns', () => {
  it('serves requests while the service drains, and is closed with it; one that is taken ends a start', async () => {
    const port = await freePort();
    const service = await startProcess('sqlite', { POWERDNS_PORT: String(port), DRAIN_MS: '3000' });
    try {
      done(await service.admin.put('/api/settings/doors', { powerdns: { enabled: true } }));
      const headers = { 'x-api-key': await tokenOf(service.admin, ['powerdns']) };
      const ask = () => say(`http://127.0.0.1:${port}/api`, 'GET', headers);
      assert.equal((await ask()).headers.get('connection'), 'keep-alive');
      const taken = { POWERDNS_PORT: String(port), DATABASE_URL: 'sqlite:other.db' };
      await assert.rejects(ServerProcess.start(taken), /set POWERDNS_PORT/);
      const stopped = service.server.stop();
      await until('it drains', async () => (await ask()).headers.get('connection') === 'close');
      assert.equal((await ask()).status, 200);
      assert.equal(await stopped, 0);
      await assert.rejects(ask());
    } finally {
      await service.stop();
    }
  });
});
