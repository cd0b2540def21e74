import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { connectProvider } from '../../../src/providers/connect.js';
import { rfc2136 } from '../../../src/providers/rfc2136/declaration.js';
import { bindMissing, type NameServer, startBind, zoneText } from '../../support/bind.js';
import { connectOptions } from '../../support/connect-options.js';
import { describeUnless } from '../../support/suites.js';

const ZONE = 'large.example';
const COUNT = 100_000;
/** records of a transfer after which others have their turn */
const TURN = 500;

describeUnless(bindMissing())('a zone of 100 000 records by transfer', () => {
  let server: NameServer;

  beforeAll(async () => {
    const hosts = Array.from({ length: COUNT }, (_, i) => `h${i} A 192.0.2.${i % 250}`).join('\n');
    server = await startBind({ zones: [ZONE], text: (zone) => `${zoneText(zone)}${hosts}\n` });
  });
  afterAll(() => server?.stop());

  it('is read whole, while others have their turns', async () => {
    const { name, algorithm, secret } = server.tsig;
    const credentials = { tsig_name: name, tsig_algorithm: algorithm, tsig_secret: secret, zones: ZONE };
    const provider = connectProvider(
      rfc2136,
      { server: '127.0.0.1', port: String(server.port), ...credentials },
      connectOptions(30_000),
    );
    let turns = 0;
    let reading = true;
    const tick = () => {
      turns++;
      if (reading) setImmediate(tick);
    };
    setImmediate(tick);
    const records = await provider.listRecords({ id: ZONE, name: ZONE });
    reading = false;
    assert.equal(records.filter(({ type }) => type === 'A').length, COUNT + 1);
    assert.equal(new Set(records.map(({ host }) => host)).size, COUNT + 2);
    assert.ok(turns >= COUNT / TURN, String(turns));
  });
});
