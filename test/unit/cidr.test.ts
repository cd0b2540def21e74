import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { inCidrs, networkOf, parseCidr } from '../../src/platform/common/cidr.js';

const within = (address: string, ...nets: string[]) => inCidrs(address, nets.map(parseCidr));

describe('CIDR', () => {
  it('reads addresses as networks of one', () => {
    assert.equal(parseCidr('192.0.2.1').join('/'), '192.0.2.1/32');
    assert.equal(parseCidr(' 2001:db8::1 ').join('/'), '2001:db8::1/128');
  });

  for (const text of ['', 'x', '192.0.2.0/33', '2001:db8::/129', '192.0.2.0/', 'example.com', '192.0.2.0/-1']) {
    it(`refuses "${text}"`, () => assert.throws(() => parseCidr(text), /is not an address or CIDR/));
  }

  it('tells inside from outside, in both families', () => {
    assert.equal(within('10.255.0.1', '10.0.0.0/8'), true);
    assert.equal(within('11.0.0.1', '10.0.0.0/8'), false);
    assert.equal(within('2001:db8:0:1::1', '2001:db8::/48'), true);
    assert.equal(within('2001:db8:1::1', '2001:db8::/48'), false);
    assert.equal(within('192.0.2.1', '198.51.100.0/24', '192.0.2.1'), true);
  });

  it('never mixes the families, but knows an IPv4 address in IPv6 clothes', () => {
    assert.equal(within('::1', '0.0.0.0/0'), false);
    assert.equal(within('127.0.0.1', '::/0'), false);
    assert.equal(within('::ffff:10.1.2.3', '10.0.0.0/8'), true);
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3']) {
      assert.equal(within(address, '::ffff:10.0.0.0/104'), true);
      assert.equal(within(address, '::ffff:0:0/96'), true);
      assert.equal(within(address, '::ffff:11.0.0.0/104', '::fffe:0:0/95'), false);
    }
  });

  it('holds nothing in an empty list, and no text that is no address', () => {
    assert.equal(within('10.0.0.1'), false);
    assert.equal(within('unknown', '0.0.0.0/0', '::/0'), false);
  });
});

describe('network of a client', () => {
  const NETWORKS: [string, string][] = [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::9', '2001:db8:1:3::/64'],
    ['', 'unknown'],
    ['somebody', 'unknown'],
  ];
  for (const [address, network] of NETWORKS) {
    it(`"${address}" is in ${network}`, () => assert.equal(networkOf(address), network));
  }
});
