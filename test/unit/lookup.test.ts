import assert from 'node:assert/strict';
import { it } from '@jest/globals';
import { candidates, hostsNamed } from '../../src/platform/outbound/lookup.js';

it('a name is asked for as resolv.conf says', () => {
  const cluster = 'search ns.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.0.0.10\noptions ndots:5';
  assert.deepEqual(candidates(cluster, 'pdns.dns'), [
    'pdns.dns.ns.svc.cluster.local',
    'pdns.dns.svc.cluster.local',
    'pdns.dns.cluster.local',
    'pdns.dns',
  ]);
  assert.equal(candidates(cluster, 'a.b.c.d.e.f')[0], 'a.b.c.d.e.f');
  assert.deepEqual(candidates(cluster, 'pdns.dns.'), ['pdns.dns.']);
  assert.deepEqual(candidates('search a.test.\n', 'x'), ['x.a.test', 'x']);
  assert.deepEqual(candidates('search a.test\noptions edns0', 'x.y'), ['x.y', 'x.y.a.test']);
  assert.deepEqual(candidates('# search no.test\nsearch .', 'x'), ['x']);
  assert.deepEqual(candidates('', 'x'), ['x']);
});

it('a list of hosts gives names their addresses', () => {
  const list =
    '127.0.0.1 localhost\n::1\tlocalhost ip6-localhost # x\n#192.0.2.9 vendor\n192.0.2.1 Vendor.test vendor\nno vendor';
  assert.deepEqual(hostsNamed(list, 'localhost'), ['127.0.0.1', '::1']);
  assert.deepEqual(hostsNamed(list, 'vendor.TEST.'), ['192.0.2.1']);
  assert.deepEqual(hostsNamed(list, 'vendor'), ['192.0.2.1']);
  assert.deepEqual(hostsNamed(list, 'x'), []);
});
