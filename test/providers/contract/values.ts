import type { LooseRecord, RecordType } from '../../../src/dns/record.js';

export type Given = Pick<LooseRecord, 'value' | 'priority'>;

/** A value and another one to change it to, for every type that the service can write. */
export const VALUES: Record<RecordType, [Given, Given]> = {
  A: [{ value: '192.0.2.1' }, { value: '198.51.100.7' }],
  AAAA: [{ value: '2001:DB8:0::1' }, { value: '2001:db8::ffff:2' }],
  CNAME: [{ value: 'Target.example.net' }, { value: 'other.example.net' }],
  MX: [
    { value: 'mail.example.net', priority: 10 },
    { value: 'mail2.example.net', priority: 20 },
  ],
  TXT: [{ value: 'v=spf1 include:example.net -all' }, { value: 'changed; "quoted" and \\ too' }],
  NS: [{ value: 'ns8.example.net' }, { value: 'ns9.example.net' }],
  SRV: [
    { value: '5 5060 sip.example.net', priority: 10 },
    { value: '0 5061 sip2.example.net', priority: 1 },
  ],
  CAA: [{ value: '0 issue "ca.example.net"' }, { value: '128 iodef "mailto:security@example.net"' }],
  SVCB: [{ value: '1 svc.example.net port=8443' }, { value: '2 svc2.example.net port=8444' }],
  HTTPS: [{ value: '1 . alpn=h2' }, { value: '0 other.example.net' }],
  TLSA: [{ value: `3 1 1 ${'ab'.repeat(32)}` }, { value: `3 1 1 ${'cd'.repeat(32)}` }],
  SSHFP: [{ value: `4 2 ${'12'.repeat(32)}` }, { value: `1 1 ${'34'.repeat(20)}` }],
  NAPTR: [
    { value: '100 50 "s" "SIP+D2U" "" _sip._udp.example.net' },
    { value: '100 10 "u" "E2U+sip" "!^.*$!sip:info@example.net!" .' },
  ],
  DS: [{ value: `12345 13 2 ${'ef'.repeat(32)}` }, { value: `12346 8 2 ${'01'.repeat(32)}` }],
  PTR: [{ value: 'host.example.net' }, { value: 'host2.example.net' }],
  ALIAS: [{ value: 'lb.example.net' }, { value: 'lb2.example.net' }],
  LOC: [
    { value: '52 22 23.000 N 4 53 32.000 E -2.00m 1.00m 10000.00m 10.00m' },
    { value: '31 58 52.100 S 115 49 11.700 E 20.00m 10.00m 10.00m 2.00m' },
  ],
  URI: [{ value: '10 1 "https://example.net/"' }, { value: '20 5 "https://example.net/path?x=1"' }],
  RP: [{ value: 'first\\.last.example.net admin-txt.example.net' }, { value: 'other.example.net .' }],
  DHCID: [
    { value: 'AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=' },
    { value: 'AAEBOSD+XR3Os/0LozeXVqcNc7FwCfQdWL3b/NaiUDlW2No=' },
  ],
  DNAME: [{ value: 'Tree.example.net' }, { value: 'tree2.example.net' }],
  DNSKEY: [{ value: `256 3 13 ${'mdss'.repeat(21)}mQ==` }, { value: `257 3 15 ${'l02W'.repeat(10)}b1U=` }],
  OPENPGPKEY: [{ value: `${'mDME'.repeat(200)}` }, { value: `${'mQEN'.repeat(10)}BFs=` }],
  SMIMEA: [{ value: `3 0 0 ${'30'.repeat(300)}` }, { value: `3 1 1 ${'cd'.repeat(32)}` }],
};

/** What a name server is asked for, too. */
export const COMMON: readonly string[] = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS', 'SRV', 'CAA'];

/** Types that are only found where their labels say what they are of; elsewhere vendors may refuse them. */
const LABELLED: Record<string, readonly string[]> = {
  TLSA: ['_443._tcp'],
  DS: ['name'],
  // what is below one is not found any more
  DNAME: ['name', 'deep.er'],
  // elsewhere it is nobody's key
  DNSKEY: ['@'],
  OPENPGPKEY: [`${'3c'.repeat(28)}._openpgpkey`],
  SMIMEA: [`${'3c'.repeat(28)}._smimecert`],
};

/**
 * Where a type is tried. A CNAME cannot stand at the apex, unless the vendor flattens it; NS at a wildcard has no
 * defined meaning (RFC 4592 4.2); a DS stands beside a delegation.
 */
export const hostsFor = (type: string, apexCname: boolean): readonly string[] =>
  LABELLED[type] ??
  ['@', 'name', '*', '_srv._tcp', 'deep.er'].filter(
    (host) => !(type === 'CNAME' && host === '@' && !apexCname) && !(type === 'NS' && host === '*'),
  );

/** Texts by what the suite calls them after `TXT `. */
export const TEXTS: readonly [string, string][] = [
  ['empty', ''],
  ['of 254 bytes', 'w'.repeat(254)],
  ['of 255 bytes', 'x'.repeat(255)],
  ['of 256 bytes', 'y'.repeat(256)],
  ['of 510 bytes', `${'a'.repeat(255)}${'b'.repeat(255)}`],
  ['of 511 bytes', `${'a'.repeat(255)}${'b'.repeat(255)}c`],
  ['of 765 bytes', `${'a'.repeat(255)}${'b'.repeat(255)}${'c'.repeat(255)}`],
  ['of 766 bytes', `${'a'.repeat(255)}${'b'.repeat(255)}${'c'.repeat(255)}d`],
  ['of 2000 bytes', 'v=DKIM1; k=rsa; p='.padEnd(2000, 'MIIBIjANBg')],
  ['with a blank at the split', `${'z'.repeat(254)} ${'z'.repeat(20)}`],
  ['with a character across the split', `${'z'.repeat(254)}é and more`],
  ['with quotes', 'say "hi"'],
  ['that is a lone quote', '"'],
  ['with a lone quote', 'an inch is 1" long'],
  ['with backticks', '`a` ``b'],
  ['with backslashes', 'a \\ b; \\065 \\" ; \\\\'],
  ['with semicolons', 'v=DMARC1; p=none; rua=mailto:a@example.net;'],
  ['with quotes, backslashes, semicolons', 'say "hi"; a \\ b; \\065 \\" ; @ $ORIGIN (1)'],
  ['that looks quoted', '"one" "two"'],
  ['not ASCII', 'grüße — 你好 ✓'],
  ['with blanks at both ends', '  a  b '],
  ['that is markup', '<a href="x">&amp; 100% + \'b\'</a>'],
  ['that is a number', '0012'],
];

/** A list of one configuration of encrypted client hello (RFC 9849). */
const ECH = 'AEX+DQBBpQAgACBYrVsPX1dqG9tQz0hrRQKe5tU6XbPp5vkwIcZ7j3WEAQAEAAEAAQASY2xvdWRmbGFyZS1lY2guY29tAAA=';

/** Values that vendors like to get wrong, by the name that the suite gives them, and by that of one they are like. */
export const ODD: readonly { name: string; like?: string; host: string; type: RecordType; given: Given }[] = [
  { name: 'MX with the root', host: 'nomail', type: 'MX', given: { value: '.', priority: 0 } },
  { name: 'null MX at the apex', like: 'MX with the root', host: '@', type: 'MX', given: { value: '.', priority: 0 } },
  { name: 'SRV with the root', host: '_none._tcp', type: 'SRV', given: { value: '0 0 .', priority: 0 } },
  {
    name: 'CAA with flag 128 and parameters',
    host: 'strict',
    type: 'CAA',
    given: { value: '128 issue "ca.example.net; validationmethods=dns-01; accounturi=https://ca.example.net/acct/1"' },
  },
  { name: 'CAA that forbids', host: 'strict', type: 'CAA', given: { value: '0 issuewild ";"' } },
  ...(['SVCB', 'HTTPS'] as const).flatMap((type) => [
    {
      name: `${type} with several parameters`,
      host: 'params',
      type,
      given: {
        value:
          '1 svc.example.net mandatory=alpn,port alpn=h2,h3 no-default-alpn port=8443 ipv4hint=192.0.2.1,192.0.2.2 ' +
          'ipv6hint=2001:db8::1,2001:db8::2',
      },
    },
    { name: `${type} with ECH`, host: 'ech', type, given: { value: `2 . alpn=h2 ipv4hint=192.0.2.1 ech=${ECH}` } },
  ]),
  { name: 'a host in Unicode', host: 'bücher', type: 'A', given: { value: '192.0.2.1' } },
  { name: 'a target in Unicode', host: 'alias', type: 'CNAME', given: { value: 'shop.bücher.example' } },
  { name: 'names in upper case', host: 'Www.UPPER', type: 'CNAME', given: { value: 'TARGET.Example.NET' } },
  { name: 'a text in upper case', host: 'UPPER', type: 'TXT', given: { value: 'Key=AbC' } },
  { name: 'an IPv4-mapped address', host: 'mapped', type: 'AAAA', given: { value: '::ffff:192.0.2.1' } },
  { name: 'a target in the zone', host: 'inside', type: 'CNAME', given: { value: '@' } },
  { name: 'a preference of 0', host: 'zero', type: 'MX', given: { value: 'mx.example.net', priority: 0 } },
  { name: 'a wildcard below a name', host: '*.below', type: 'A', given: { value: '192.0.2.1' } },
];
