import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { RegistrySilence } from '../../src/monitoring/expiry/answers.js';
import { readRdap } from '../../src/monitoring/expiry/rdap-answer.js';
import { BUILT_IN } from '../../src/monitoring/expiry/rdap-bases.js';
import { registrableOf } from '../../src/monitoring/expiry/registrable.js';
import { readWhois, referredServer } from '../../src/monitoring/expiry/whois-answer.js';
import { COMMON, FORMATS, TELL_NOTHING } from '../../src/monitoring/expiry/whois-formats.js';

/** What comes of an answer: the date, null for "tells none", or why there is none. */
function outcome(read: () => string | null): string | null {
  try {
    return read()?.replace('.000Z', 'Z') ?? null;
  } catch (error) {
    assert.ok(error instanceof RegistrySilence, String(error));
    return error.waitMs === null ? error.kind : `${error.kind} ${error.waitMs}`;
  }
}
const whois = (name: string, text: string) =>
  outcome(() => readWhois(text, name, FORMATS[name.split('.').at(-1) as string] ?? COMMON));

const NOTICE = `NOTICE: The expiration date displayed in this record is the date the registrar's
sponsorship of the domain name registration in the registry is currently set to expire. Registry Expiry Date: see above.
`;

/** Answers of registries, shortened, in the forms that they have. */
const WHOIS: [name: string, text: string, end: string | null][] = [
  [
    'x.com',
    `   Domain Name: X.COM\r\n   Updated Date: 2019-09-09T15:39:04Z\r\n   Creation Date: 1997-09-15T04:00:00Z\r\n   Registry Expiry Date: 2028-09-14T04:00:00Z\r\n   Name Server: NS1.X.COM\r\n${NOTICE}`,
    '2028-09-14T04:00:00Z',
  ],
  ['x.com', `   Domain Name: X.COM\r\n${NOTICE}`, 'unreadable'],
  ['x.com', 'No match for "X.COM".\r\n>>> Last update of whois database: 2026-11-01T00:00:00Z <<<\r\n', 'unregistered'],
  ['x.org', 'Domain Name: x.org\r\nRegistry Expiry Date: 2027-01-13T00:12:14.78Z\r\n', '2027-01-13T00:12:14Z'],
  ['x.org', 'WHOIS LIMIT EXCEEDED - SEE WWW.PIR.ORG/WHOIS FOR DETAILS\r\n', 'limited'],
  ['x.io', 'Domain Name: x.io\nRegistry Expiry Date: 2027-03-08T17:22:40.0Z\n', '2027-03-08T17:22:40Z'],
  ['x.io', 'Domain not found.\n', 'unregistered'],
  ['x.co', 'No Data Found\n', 'unregistered'],
  ['x.ca', 'Domain Name: x.ca\nRegistry Expiry Date: 2027-07-08T04:00:00Z\n', '2027-07-08T04:00:00Z'],
  ['x.sg', 'Domain Name:\t\tX.SG\n\tExpiration Date:\t03-Jan-2027 00:00:00\n', '2027-01-03T00:00:00Z'],
  [
    'x.uk',
    '    Domain name:\n        x.uk\n\n    Relevant dates:\n        Registered on: 26-Nov-1999\n        Expiry date:  05-Dec-2027\n',
    '2027-12-05T00:00:00Z',
  ],
  [
    'x.uk',
    'Error for "x.uk".\n\nthe WHOIS query quota for 192.0.2.1 has been exceeded\nand will be replenished in 50 seconds.\n',
    'limited 50000',
  ],
  [
    'x.fr',
    '%%\ndomain:      x.fr\nstatus:      ACTIVE\nExpiry Date: 2027-12-30T17:16:48Z\ncreated:     2004-10-08T22:00:00Z\n',
    '2027-12-30T17:16:48Z',
  ],
  ['x.fr', '%% Too many requests...\n%% No entries found\n', 'limited'],
  ['x.fr', '%% NOT FOUND\n', 'unregistered'],
  ['x.fr', '%%\ndomain: x.fr\nExpiry Date: 30/12/2027\n', 'unreadable'],
  [
    'x.it',
    'Domain:             x.it\nStatus:             ok\nExpire Date:        2027-08-28\n',
    '2027-08-28T00:00:00Z',
  ],
  ['x.it', 'Domain:             x.it\nStatus:             AVAILABLE\n', 'unregistered'],
  ['x.se', 'state:            active\ndomain:           x.se\nexpires:          2028-01-28\n', '2028-01-28T00:00:00Z'],
  ['x.se', 'domain "x.se" not found.\n', 'unregistered'],
  [
    'x.dk',
    'Domain:               x.dk\nRegistered:           1999-05-17\nExpires:              2027-04-30\n',
    '2027-04-30T00:00:00Z',
  ],
  ['x.dk', 'Too many connections\n', 'limited'],
  ['x.fi', 'domain.............: x.fi\nexpires............: 15.12.2027 09:37:54\n', '2027-12-15T09:37:54Z'],
  ['x.is', 'domain:       x.is\ncreated:      May 22 1995\nexpires:      May 22 2027\n', '2027-05-22T00:00:00Z'],
  ['x.ee', 'Domain:\nname:       x.ee\nexpire:     2027-01-24\n\nRegistrant:\nname: X\n', '2027-01-24T00:00:00Z'],
  ['x.lt', 'Domain:\t\t\tx.lt\nExpires:\t\t2027-02-17\n', '2027-02-17T00:00:00Z'],
  [
    'x.pl',
    'DOMAIN NAME:           x.pl\nrenewal date:          2032.03.16 01:08:04\n\noption created:       2025.03.03 10:00:00\noption expiration date:       2028.03.03 10:00:00\n',
    '2032-03-16T01:08:04Z',
  ],
  ['x.pl', 'DOMAIN NAME:           x.pl\noption expiration date:       2028.03.03 10:00:00\n', 'unreadable'],
  ['x.pl', 'request limit exceeded for 192.0.2.1\n', 'limited'],
  ['x.cz', 'domain:       x.cz\nregistered:   21.10.1996 02:00:00\nexpire:       22.07.2027\n', '2027-07-22T00:00:00Z'],
  ['x.cz', '% Your connection limit exceeded. Please slow down and try again later.\n', 'limited'],
  ['x.sk', 'Domain:                       x.sk\nValid Until:                  2027-04-24\n', '2027-04-24T00:00:00Z'],
  ['x.rs', 'Domain name: x.rs\nExpiration date: 26.03.2027 16:18:03\n', '2027-03-26T16:18:03Z'],
  [
    'x.pt',
    'Domain: x.pt\nCreation Date: 09/01/2005 00:00:00\nExpiration Date: 02/11/2027 23:59:00\n',
    '2027-11-02T23:59:00Z',
  ],
  ['x.pt', 'Domain: x.pt\nExpiration Date: 11/22/2027 23:59:00\n', 'unreadable'],
  [
    'x.ru',
    'domain:        X.RU\npaid-till:     2027-11-20T21:00:00Z\nfree-date:     2027-12-22\n',
    '2027-11-20T21:00:00Z',
  ],
  ['x.ua', 'domain:           x.ua\nexpires:          2027-07-21 18:03:50+03\n', '2027-07-21T15:03:50Z'],
  [
    'x.com.tr',
    '** Domain Name: x.com.tr\nCreated on..............: 2001-Aug-23.\nExpires on..............: 2027-Aug-22.\n',
    '2027-08-22T00:00:00Z',
  ],
  ['x.com.tr', 'No match found for "x.com.tr"\n', 'unregistered'],
  ['x.co.il', 'domain:       x.co.il\nvalidity:     05-06-2027\n', '2027-06-05T00:00:00Z'],
  ['x.co.il', 'domain:       x.co.il\nvalidity:     N/A\n', null],
  [
    'x.jp',
    '[Domain Name]                   X.JP\n[Created on]                    2001/05/14\n[Expires on]                    2027/05/31\n',
    '2027-05-31T00:00:00Z',
  ],
  [
    'x.co.jp',
    'a. [Domain Name]                X.CO.JP\n[State]                         Connected (2027/09/30)\n',
    '2027-09-30T00:00:00Z',
  ],
  [
    'x.kr',
    'Domain Name                 : x.kr\nRegistered Date             : 1999. 07. 28.\nExpiration Date             : 2027. 05. 19.\n',
    '2027-05-19T00:00:00Z',
  ],
  [
    'x.kr',
    'The requested domain was not found in the Registry or Registrar’s WHOIS Server.\n\nx.kr is not registered to KRNIC\n',
    'unregistered',
  ],
  [
    'x.cn',
    'Domain Name: x.cn\nRegistration Time: 2003-03-17 12:20:05\nExpiration Time: 2027-03-17 12:48:36\n',
    '2027-03-17T04:48:36Z',
  ],
  ['x.com.tw', 'Domain Name: x.com.tw\n   Record expires on 2027-05-23 (YYYY-MM-DD)\n', '2027-05-23T00:00:00Z'],
  ['x.com.tw', 'Domain Name: x.com.tw\n   Record expires on 2027-05-23 08:00:00 (UTC+8)\n', '2027-05-23T00:00:00Z'],
  [
    'x.hk',
    'Domain Name:  X.HK \nDomain Name Commencement Date: 11-07-1996\nExpiry Date: 11-07-2027\n',
    '2027-07-11T00:00:00Z',
  ],
  ['x.co.th', 'Domain Name:             X.CO.TH\nExp date:                8 Oct 2027\n', '2027-10-08T00:00:00Z'],
  [
    'x.my',
    'a [Domain Name]                  x.my\nd [Record Expired]               13-MAY-2027\n',
    '2027-05-13T00:00:00Z',
  ],
  ['x.kg', 'Domain x.kg (ACTIVE)\nRecord expires on: Sat Mar 28 23:59:00 2027\n', '2027-03-28T23:59:00Z'],
  ['x.com.br', 'domain:      x.com.br\ncreated:     19990518 #162310\nexpires:     20270518\n', '2027-05-18T00:00:00Z'],
  ['x.cl', 'Domain name: x.cl\nExpiration date: 2027-11-20 14:48:02 CLST\n', '2027-11-20T17:48:02Z'],
  ['x.cr', 'domain:       x.cr\nexpire:       17.04.2027\n', '2027-04-17T00:00:00Z'],
  ['x.im', 'Domain Name: x.im\nExpiry Date: 03/04/2027 00:59:59\n', '2027-04-03T00:59:59Z'],
  ['x.co.za', 'Available\n', 'unregistered'],
  ['x.co.za', 'Please go away for 13 Seconds\n', 'limited 13000'],
  ['x.info', 'TLD is not supported.\n', 'unreadable'],
  // of another name, cut within the line, out of this world, and twice
  ['x.com', 'Domain Name: NOT-X.COM\nRegistry Expiry Date: 2028-09-14T04:00:00Z\n', 'unreadable'],
  ['x.com', 'Name Server: NS1.X.COM\nRegistry Expiry Date: 2028-09-14T04:00:00Z\n', 'unreadable'],
  ['x.it', 'Domain:             x.it\nExpire Date:        2027-08-28', 'unreadable'],
  ['x.it', 'Domain:             x.it\nExpire Date:        2027-02-30\n', 'unreadable'],
  ['x.it', 'Domain:             x.it\nExpire Date:        9999-12-31\n', 'unreadable'],
  ['x.it', 'Domain:             x.it\nExpire Date:        2027-08-28\nExpire Date:        2028-08-28\n', 'unreadable'],
  ['x.it', '<html><body>x.it 2027-08-28</body></html>\n', 'unreadable'],
  ['x.it', '', 'unreadable'],
];

const rdap = (answer: unknown) =>
  outcome(() => readRdap(typeof answer === 'string' ? answer : JSON.stringify(answer), 'x.com'));
const domain = (more: object) => ({ objectClassName: 'domain', ldhName: 'X.COM', ...more });
const ends = (...dates: unknown[]) =>
  domain({
    events: [
      { eventAction: 'registration', eventDate: '1997-09-15T04:00:00Z' },
      ...dates.map((eventDate) => ({ eventAction: 'expiration', eventDate })),
      { eventAction: 'registrar expiration', eventDate: '2031-01-01T00:00:00Z' },
      { eventAction: 'last update of RDAP database', eventDate: '2026-11-22T00:00:00Z' },
    ],
  });

const RDAP: [what: string, answer: unknown, end: string | null][] = [
  ['a date', ends('2028-09-14T04:00:00Z'), '2028-09-14T04:00:00Z'],
  ['seven digits of a second', ends('2028-09-14T04:00:00.1234567Z'), '2028-09-14T04:00:00Z'],
  ['an offset', ends('2028-09-14T04:00:00+03:00'), '2028-09-14T01:00:00Z'],
  ['no zone', ends('2028-09-14T04:00:00'), '2028-09-14T04:00:00Z'],
  ['a day', ends('2028-09-14'), '2028-09-14T00:00:00Z'],
  ['the same twice', ends('2028-09-14T04:00:00Z', '2028-09-14T06:00:00+02:00'), '2028-09-14T04:00:00Z'],
  [
    'an action in another writing',
    domain({ events: [{ eventAction: ' Expiration', eventDate: '2028-09-14T04:00:00Z' }] }),
    '2028-09-14T04:00:00Z',
  ],
  ['no date of expiration', ends(), null],
  ['no events', domain({}), null],
  ['a name in Unicode only', { objectClassName: 'domain', unicodeName: 'X.com', events: [] }, null],
  ['another name in Unicode only', { objectClassName: 'domain', unicodeName: 'y.com', events: [] }, 'unreadable'],
  ['an error that is no number', { errorCode: { toString: 1, valueOf: 1 } }, 'unreadable'],
  ['two dates', ends('2028-09-14T04:00:00Z', '2029-09-14T04:00:00Z'), 'unreadable'],
  ['the words Invalid Date', ends('Invalid Date'), 'unreadable'],
  ['an empty date', ends(''), 'unreadable'],
  ['a number', ends(1853985600), 'unreadable'],
  ['null', ends(null), 'unreadable'],
  ['a day that is none', ends('2028-02-30T00:00:00Z'), 'unreadable'],
  ['American writing', ends('09/14/2028'), 'unreadable'],
  ['the end of time', ends('9999-12-31T23:59:59Z'), 'unreadable'],
  ['a text in place of the events', domain({ events: '2028-09-14T04:00:00Z' }), 'unreadable'],
  ['texts in place of events', domain({ events: ['expiration'] }), 'unreadable'],
  ['one event in place of the list', domain({ events: { eventAction: 'expiration' } }), 'unreadable'],
  ['another name', { ...ends('2028-09-14T04:00:00Z'), ldhName: 'y.com' }, 'unreadable'],
  ['no name', { objectClassName: 'domain', events: [] }, 'unreadable'],
  ['an entity', { ...ends('2028-09-14T04:00:00Z'), objectClassName: 'entity' }, 'unreadable'],
  ['an error', { errorCode: 500, title: 'x' }, 'unreadable'],
  ['a page', '<html>2028-09-14T04:00:00Z</html>', 'unreadable'],
  ['a list', [], 'unreadable'],
  ['nothing', '', 'unreadable'],
];

describe('what registries answer about the end of a registration', () => {
  for (const [name, text, end] of WHOIS)
    it(`WHOIS ${name}: ${JSON.stringify(text.slice(-50))} is ${end}`, () => assert.equal(whois(name, text), end));

  for (const [what, answer, end] of RDAP) it(`RDAP, ${what}: ${end}`, () => assert.equal(rdap(answer), end));

  it('recognises domains in U-labels', () => {
    const text = 'domain: bücher.se\nexpires: 2028-01-28\n';
    assert.equal(whois('xn--bcher-kva.se', text), '2028-01-28T00:00:00Z');
  });

  it('spends no time on a hostile answer', () => {
    const answers = [
      ' '.repeat(200_000),
      'x.it'.repeat(50_000),
      `${'a'.repeat(200_000)}\nExpire Date:${'\t'.repeat(99_999)}`,
    ];
    for (const text of answers) assert.equal(whois('x.it', text), 'unreadable');
  });

  it('reads the server of a top level domain from the answer of IANA', () => {
    assert.equal(referredServer('domain:       IO\n\nwhois:        whois.nic.io\n\nstatus: ACTIVE\n'), 'whois.nic.io');
    for (const text of ['whois:\n\nstatus: ACTIVE\n', 'whois: http://x/y\n', ''])
      assert.equal(referredServer(text), null);
  });

  it('finds the registrable name', () => {
    const of = (name: string, own: string[] = []) => registrableOf(name, new Set(own));
    assert.equal(of('a.b.example.co.uk'), 'example.co.uk');
    assert.equal(of('foo.github.io'), 'github.io');
    assert.equal(of('sub.x.xn--p1ai'), 'x.xn--p1ai');
    assert.equal(of('www.ck'), 'www.ck');
    for (const name of ['co.uk', 'com', 'a.example', 'x.local', '2.0.192.in-addr.arpa', '8.b.d.ip6.arpa', 'a.corp'])
      assert.equal(of(name), null, name);
    assert.equal(of('a.b.corp', ['corp']), 'b.corp');
  });

  it('has consistent tables', () => {
    assert.deepEqual(
      Object.keys(FORMATS).filter((tld) => TELL_NOTHING.has(tld)),
      [],
    );
    for (const [tld, base] of BUILT_IN) assert.match(`${tld} ${base}`, /^[a-z0-9-]+ https:\/\/[^ ]+\/$/);
    assert.ok(BUILT_IN.size > 100);
  });

  it('have no pattern that a hostile answer can slow down', () => {
    // with a pattern that goes over lines each of these takes minutes
    const size = 262_144;
    for (const line of ['\n', '%\n', '% ', `expires:${' '.repeat(400)}\n`, `whois:${' '.repeat(400)}\n`, 'quota ']) {
      const text = line.repeat(Math.ceil(size / line.length));
      assert.match(String(whois('x.com', text)), /unreadable|limited/);
      assert.equal(referredServer(text), null);
    }
  });
});
