import assert from 'node:assert/strict';
import { it } from '@jest/globals';
import { describedBy, noDescription } from '../support/schemas.js';
import { describeUnless } from '../support/suites.js';
import type { Received } from '../support/vendor.js';

const asked = (method: string, path: string, more: Partial<Received> = {}): Received => ({
  ...{ method, path, query: {}, headers: {}, body: undefined, connection: 1 },
  ...more,
});

/** Of each form of description: something that fits, and what is said of something that does not. */
describeUnless(noDescription('digitalocean'))('descriptions of APIs', () => {
  const cases: [
    file: string,
    base: string,
    Partial<Received> & { method: string; path: string },
    answer: object,
    RegExp | null,
  ][] = [
    [
      'digitalocean',
      '/v2',
      { method: 'GET', path: '/domains', query: { page: '2' } },
      { body: { domains: [], meta: { total: 0 } } },
      null,
    ],
    [
      'digitalocean',
      '/v2',
      { method: 'GET', path: '/domains', query: { pages: '2' } },
      { body: { domains: [], meta: { total: 0 } } },
      /query pages is not described/,
    ],
    ['digitalocean', '/v2', { method: 'GET', path: '/domaines' }, {}, /no such operation/],
    [
      'digitalocean',
      '/v2',
      { method: 'POST', path: '/domains/a.b/records', body: { type: 'A', name: '@', data: '192.0.2.1', tttl: 3 } },
      { status: 404 },
      /tttl is not described/,
    ],
    [
      'digitalocean',
      '/v2',
      { method: 'POST', path: '/domains/a.b/records', body: { type: 'A', name: '@', data: '192.0.2.1', ttl: 'x' } },
      { status: 404 },
      /ttl must be integer/,
    ],
    [
      'powerdns',
      '',
      {
        method: 'PATCH',
        path: '/api/v1/servers/localhost/zones/a.b.',
        body: { rrsets: [{ name: 'a.b.', type: 'A', ttl: 1, records: [{ contents: '192.0.2.1' }] }] },
      },
      { status: 204 },
      /records/,
    ],
    [
      'netlify',
      '/api/v1',
      { method: 'POST', path: '/dns_zones/1/dns_records', body: { type: 'A', hostname: 'a', value: 'b', ttl: 60 } },
      { status: 201, body: { id: '1' } },
      null,
    ],
    [
      'netlify',
      '/api/v1',
      { method: 'POST', path: '/dns_zones/1/dns_records', body: { type: 'A', host: 'a' } },
      { status: 201, body: { id: 1 } },
      /host is not described[\s\S]*id must be string/,
    ],
    [
      'google-cloud-dns',
      '',
      { method: 'GET', path: '/dns/v1/projects/p/managedZones', query: { maxResults: '5' } },
      { body: { managedZones: [] } },
      null,
    ],
    [
      'google-cloud-dns',
      '',
      {
        method: 'POST',
        path: '/dns/v1/projects/p/managedZones/z/changes',
        body: { additions: [{ name: 'a.', ttl: 'x' }] },
      },
      {},
      /ttl must be integer/,
    ],
    [
      'hetzner-cloud',
      '/v1',
      { method: 'GET', path: '/zones', query: { per_page: '50' } },
      { status: 401, body: {} },
      /401/,
    ],
    [
      'linode',
      '/v4',
      { method: 'GET', path: '/domains', query: { page_size: '100' } },
      { body: { data: [], page: 1, pages: 1, results: 0 } },
      null,
    ],
    [
      'tencent-dnspod',
      '',
      {
        method: 'POST',
        path: '/',
        headers: { 'x-tc-action': 'CreateRecord' },
        body: { Domain: 'a.b', RecordType: 'A', RecordLine: '默认', Value: '192.0.2.1' },
      },
      { body: { Response: { RecordId: 1, RequestId: 'x' } } },
      null,
    ],
    [
      'tencent-dnspod',
      '',
      {
        method: 'POST',
        path: '/',
        headers: { 'x-tc-action': 'CreateRecord' },
        body: { Domain: 'a.b', RecordType: 'A', Value: 1, Lime: '0' },
      },
      { body: { Response: { RecordId: '1' } } },
      /Lime is not described[\s\S]*RecordLine is missing[\s\S]*Value is no string[\s\S]*RecordId is no number/,
    ],
    [
      'tencent-edgeone',
      '',
      { method: 'POST', path: '/', headers: { 'x-tc-action': 'DescribeZones' }, body: { Limit: '5' } },
      {},
      /Limit is no number/,
    ],
    [
      'alibaba-alidns',
      '',
      {
        method: 'POST',
        path: '/',
        headers: { 'x-acs-action': 'AddDomainRecord' },
        query: { DomainName: 'a.b', RR: '@', Type: 'A', Value: '192.0.2.1', TTL: '600', Priority: '1' },
      },
      { body: { RecordId: '1', RequestId: 'x' } },
      null,
    ],
    [
      'alibaba-alidns',
      '',
      { method: 'GET', path: '/', query: { Action: 'AddDomainRecord', RR: '@', Name: 'x' } },
      { body: { RecordId: 1 } },
      /Name is not described[\s\S]*DomainName is missing[\s\S]*RecordId is no string/,
    ],
    [
      'alibaba-esa',
      '',
      { method: 'POST', path: '/', headers: { 'x-acs-action': 'ListSitess' } },
      {},
      /no such operation/,
    ],
    [
      'huawei-dns',
      '',
      {
        method: 'POST',
        path: '/v2/zones/z/recordsets',
        body: { name: 'a.b.', type: 'A', records: ['192.0.2.1'], ttl: 300 },
      },
      { status: 202, body: { id: '1', records: ['192.0.2.1'], HttpStatusCode: 202 } },
      null,
    ],
    [
      'huawei-dns',
      '',
      { method: 'POST', path: '/v2/zones/z/recordsets', body: { name: 'a.b.', records: '192.0.2.1' } },
      { status: 202 },
      /type is missing[\s\S]*records is no list/,
    ],
    [
      'baidu-dns',
      '',
      { method: 'PUT', path: '/v1/dns/zone/a.b/record/1', query: { disable: '' } },
      { status: 200 },
      null,
    ],
    [
      'baidu-dns',
      '',
      { method: 'POST', path: '/v1/dns/zone/a.b/record', body: { rr: 'a', type: 'A', valeu: 'x' } },
      { status: 200 },
      /valeu is not described[\s\S]*value is missing/,
    ],
    [
      'baidu-dns',
      '',
      { method: 'PUT', path: '/v1/dns/zone/a.b/record/1', body: { rr: 'a', type: 'A', value: 'x', line: 'default' } },
      { status: 200 },
      /body\.line is not described/,
    ],
    [
      'baidu-dns',
      '',
      { method: 'GET', path: '/v1/dns/zone/a.b/record' },
      { body: { marker: '', nextMarker: '', maxKeys: 1, isTruncated: 'no', record: [] } },
      /200\.record is not described[\s\S]*200\.records is missing[\s\S]*isTruncated is no bool/,
    ],
    [
      'volcengine-dns',
      '',
      {
        method: 'POST',
        path: '/',
        query: { Action: 'CreateRecord', Version: '2018-08-01' },
        body: { Host: '@', Line: 'default', Type: 'A', Value: '192.0.2.1', ZID: 1, Zid: 2 },
      },
      { body: { ResponseMetadata: {}, Result: { RecordID: '1' } } },
      /Zid is not described/,
    ],
    [
      'jdcloud-domainservice',
      '/v2',
      { method: 'GET', path: '/regions/cn-north-1/domain', query: { pageNumbr: '1' } },
      {},
      /pageNumbr is not described/,
    ],
    [
      'jdcloud-domainservice',
      '/v2',
      { method: 'POST', path: '/regions/cn-north-1/domain/1/ResourceRecord', body: { rq: {} } },
      { body: { requestId: 'r', error: { code: 0 }, result: { data: {} } } },
      /body\.rq is not described[\s\S]*req is missing[\s\S]*data is not described[\s\S]*dataList is missing/,
    ],
    [
      'hetzner-cloud',
      '/v1',
      { method: 'GET', path: '/zones/1/rrsets/a/A' },
      { body: { rrset: { id: 'a/A', name: 'a', type: 'A', ttl: null, labels: {}, value: 'x' } } },
      /protection[\s\S]*rrset\/value is not described/,
    ],
    [
      'route53',
      '',
      { method: 'GET', path: '/2013-04-01/hostedzone/Z1/rrset', query: { maxitems: '3', name: 'a.b', type: 'A' } },
      {
        body: `<?xml version="1.0"?><ListResourceRecordSetsResponse><ResourceRecordSets/><IsTruncated>false</IsTruncated>
          <MaxItems>3</MaxItems></ListResourceRecordSetsResponse>`,
      },
      null,
    ],
    [
      'route53',
      '',
      { method: 'GET', path: '/2013-04-01/hostedzone/Z1/rrset', query: { maxItems: '3', type: 'Q' } },
      {
        body: '<ListResourceRecordSetsResponse><ResourceRecordSets><Set/></ResourceRecordSets></ListResourceRecordSetsResponse>',
      },
      /maxItems is not described[\s\S]*type is none of[\s\S]*Set is not described[\s\S]*IsTruncated is missing/,
    ],
    [
      'route53',
      '',
      {
        method: 'POST',
        path: '/2013-04-01/hostedzone/Z1/rrset/',
        body: '<ChangeResourceRecordSetsRequest><ChangeBatch><Changes><Change><Acton>UPSERT</Acton></Change></Changes></ChangeBatch></ChangeResourceRecordSetsRequest>',
      },
      { body: '<ChangeInfo/>' },
      /Acton is not described[\s\S]*Action is missing[\s\S]*namespace[\s\S]*is no ChangeResourceRecordSetsResponse/,
    ],
  ];
  for (const [file, base, request, answer, expected] of cases) {
    it(`${file}: ${request.method} ${request.path} ${expected ? `is told ${expected.source.replace(/\[.*?\]\*/g, ', ')}` : 'fits'}`, () => {
      const said = describedBy(
        file,
        base,
      )({ request: asked(request.method, request.path, request), answer }).join('\n');
      if (expected) assert.match(said, expected);
      else assert.equal(said, '');
    });
  }
});
