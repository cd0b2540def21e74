import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { hostingde, httpnet } from '../../../src/providers/hostingde/declaration.js';
import { connectInPlace } from '../../support/vendor.js';
import { startHostingde, ZONE } from '../hostingde/stand-in.js';

describe('http.net', () => {
  it('is asked at its own address, as hosting.de is at another one', async () => {
    const standIn = await startHostingde();
    const { handler } = standIn;
    standIn.handler = (request) => handler({ ...request, path: request.path.replace('/api/dns/v1/json', '') });
    const origins = [];
    for (const definition of [httpnet, hostingde]) {
      const made = connectInPlace(definition, { auth_token: 'a-key' }, standIn);
      assert.deepEqual(
        (await made.provider.listZones()).map(({ name }) => name),
        [ZONE.name],
      );
      origins.push(...made.origins);
    }
    await standIn.stop();
    assert.deepEqual(origins, ['https://partner.http.net', 'https://secure.hosting.de']);
  });
});
