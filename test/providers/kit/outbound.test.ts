import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { parseCidr } from '../../../src/platform/common/cidr.js';
import { outboundAgent } from '../../../src/platform/outbound/agent.js';
import { assertUrlAllowed, mayConnect, resolveAllowed } from '../../../src/platform/outbound/guard.js';
import { connectProvider } from '../../../src/providers/connect.js';
import { Http } from '../../../src/providers/kit/http/http-client.js';
import { RateLimiter } from '../../../src/providers/kit/http/rate-limiter.js';
import { powerdns } from '../../../src/providers/powerdns/declaration.js';
import { connectOptions } from '../../support/connect-options.js';
import { startStandIn } from '../../support/vendor.js';

const none: [] = [];
const loopback = ['127.0.0.0/8', '::1'].map(parseCidr);

describe('outbound rules', () => {
  for (const address of [
    '100.100.100.201',
    '64:ff9b::192.0.2.1',
    'fd00:ec2::1',
    '192.0.2.1',
    '10.0.0.1',
    '127.0.0.1',
    '::1',
    'fd00::1',
    '2001:db8::1',
    '::ffff:192.0.2.1',
  ]) {
    it(`${address} may be connected to`, () => assert.equal(mayConnect(address, none), true));
  }
  for (const address of [
    '169.254.169.254',
    '::ffff:169.254.169.254',
    'fe80::1',
    '0.0.0.0',
    '::',
    '224.0.0.1',
    'ff02::1',
    '255.255.255.255',
    // metadata of clouds, and the same in IPv6 clothes
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd00:ec2:0::0254',
    'fd00:ec2::23',
    'fd20:ce::254',
    '::ffff:100.100.100.200',
    '::ffff:a83f:8110',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::168.63.129.16',
    '64:ff9b:1::a9fe:a9fe',
    '64:ff9b:1:a9fe:a9:fe00::',
    '64:ff9b:1:2:a9:fea9:fe00:0',
    '::ffff:0:169.254.169.254',
    '::169.254.169.254',
    '2002:a9fe:a9fe::1',
    '2002:6464:64c8::',
    '2001:0:a9fe:a9fe::',
    '2001:0:102:304::5601:5601',
    'fe80::5efe:a9fe:a9fe',
    '2001:db8::200:5efe:6464:64c8',
  ]) {
    it(`${address} never`, () => assert.equal(mayConnect(address, none), false));
  }

  it('what is denied is denied in every notation', () => {
    const deny = ['127.0.0.0/8', '10.1.2.3', '2001:db8::/32'].map(parseCidr);
    for (const address of ['127.9.9.9', '::ffff:127.0.0.1', '10.1.2.3', '2001:db8:1::1']) {
      assert.equal(mayConnect(address, deny), false, address);
    }
    assert.equal(mayConnect('10.1.2.4', deny), true);
    for (const url of ['http://127.1/', 'http://2130706433/', 'http://0x7f.0.0.1:8081/x', 'https://[::ffff:7f00:1]/']) {
      assert.throws(() => assertUrlAllowed(url, deny), { kind: 'rejected', message: /not allowed/ }, url);
    }
  });

  it('endpoints are http or https URLs without user name', () => {
    for (const url of ['http://pdns.internal:8081', 'https://192.0.2.1/api', 'http://[::1]:8081/']) {
      assertUrlAllowed(url, none);
    }
    for (const url of [
      '',
      'pdns',
      'ftp://x',
      'file:///etc/passwd',
      'http://u@x/',
      'http://u:p@x/',
      'http://169.254.169.254/',
    ]) {
      assert.throws(() => assertUrlAllowed(url, none), { kind: 'rejected' }, url);
    }
  });

  it('an account whose URL is not allowed does not connect', () => {
    const options = { ...connectOptions(1000), agent: outboundAgent(loopback, 1000), deny: loopback };
    const open = (credentials: Record<string, string>) => () =>
      connectProvider(powerdns, { api_key: 'key', ...credentials }, options);
    assert.throws(open({ url: 'http://127.0.0.1:8081' }), { kind: 'rejected' });
    assert.throws(open({ url: 'http://192.0.2.1', endpoint: 'http://[::1]:1' }), { kind: 'rejected' });
    assert.doesNotThrow(open({ url: 'http://192.0.2.1' }));
  });

  it('a name is checked by the address that it has', async () => {
    assert.match(await resolveAllowed('localhost', none), /^(127\.0\.0\.1|::1)$/);
    assert.equal(await resolveAllowed('[::1]', none), '::1');
    await assert.rejects(resolveAllowed('localhost', loopback), { kind: 'unavailable', mayHaveApplied: false });
    await assert.rejects(resolveAllowed('169.254.169.254', none), { kind: 'unavailable' });
    await assert.rejects(resolveAllowed('name.invalid', none), { kind: 'unavailable', message: /cannot be resolved/ });
  });

  it('a connection to a name with a denied address is never made', async () => {
    const standIn = await startStandIn(() => ({ body: {} }));
    const { port } = new URL(standIn.url);
    const get = async (deny: typeof loopback) => {
      const dispatcher = outboundAgent(deny, 2000);
      const limiter = new RateLimiter(8);
      const baseUrl = `http://localhost:${port}`;
      const limits = { timeoutMs: 5000, retries: 0, waitMs: 0 };
      try {
        await new Http({ baseUrl, headers: {}, dispatcher, limiter, redact: (t) => t, ...limits }).post('/');
      } finally {
        await dispatcher.destroy();
      }
    };
    try {
      await assert.rejects(get(loopback), {
        kind: 'unavailable',
        mayHaveApplied: false,
        message: /Connections to localhost are not allowed/,
      });
      assert.equal(standIn.requests.length, 0);
      // the stand-in listens on 127.0.0.1 only: of several addresses the allowed one is taken
      await get([parseCidr('::1')]);
      assert.equal(standIn.requests.length, 1);
    } finally {
      await standIn.stop();
    }
  });
});
