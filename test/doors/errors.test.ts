import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { CLASS, TYPE } from '../../src/dns/wire.js';
import { rdataToWire } from '../../src/dns/wire-rdata.js';
import { missing } from '../support/bind.js';
import { databases } from '../support/databases.js';
import { extendedError, overUdp, signedUpdate } from '../support/dns-messages.js';
import { basic, say } from '../support/doors.js';
import { nsupdate } from '../support/nsupdate.js';
import { noPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import { hostOf, ROWS, type Row, RULES, rowsOf, startTroubles, type Troubles, WRONG } from '../support/troubles.js';
import { done, made } from '../support/world.js';

const DOORS = ['httpreq', 'acme-dns', 'dyndns2', 'external-dns', 'powerdns', 'rfc2136', 'ddns-go', 'certd', 'webhook'];

/** What a door said: its status, or the code of its protocol; and the answer with its headers, as one text. */
interface Told {
  status: string;
  text: string;
}

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noPowerdns || missing('nsupdate') || false)(`what doors say when it fails, on ${kind}`, () => {
    let world: Troubles;
    let count = 0;
    /** each sends one change, of a name that is its own or not */
    const senders = new Map<string, (row: Row) => Promise<Told>>();

    const told = async (answer: ReturnType<typeof say>): Promise<Told> => {
      const { status, text, headers } = await answer;
      const after = headers.get('retry-after');
      return { status: String(status), text: after === null ? text : `${text} Retry-After` };
    };
    beforeAll(async () => {
      world = await startTroubles(kind);
      const { makeToken } = world;
      const { url } = world.server;
      const json = { 'content-type': 'application/json' };
      const auth = (row: Row, token: string) => ({
        ...json,
        authorization: basic(row === 'wrong token' ? WRONG : token),
      });
      const text = () => `text-${String(++count).padEnd(38, 'x')}`;
      const address = () => `192.0.2.${(++count % 250) + 1}`;

      const acme = await makeToken('acme');
      senders.set('httpreq', (row) => {
        const body = { fqdn: `_acme-challenge.${hostOf(row)}.example.com.`, value: text() };
        return told(say(`${url}/doors/httpreq/present`, 'POST', auth(row, acme.token), body));
      });
      const registered = await makeToken('acme');
      const full = { fulldomain: '_acme-challenge.own.example.com' };
      const { text: reply } = await say(
        `${url}/doors/acme-dns/register`,
        'POST',
        { authorization: basic(registered.token), ...json },
        full,
      );
      const registration = JSON.parse(reply) as { username: string; password: string; subdomain: string };
      senders.set('acme-dns', async (row) => {
        if (row === 'foreign host') await setRules(registered.id, [{ effect: 'allow', hosts: ['other'] }]);
        const key = row === 'wrong token' ? 'x'.repeat(40) : registration.password;
        const headers = { ...json, 'x-api-user': registration.username, 'x-api-key': key };
        const body = { subdomain: registration.subdomain, txt: text() };
        const said = await told(say(`${url}/doors/acme-dns/update`, 'POST', headers, body));
        await setRules(registered.id, RULES);
        return said;
      });
      const setRules = async (id: number, rules: object[]) =>
        void done(await world.admin.put(`/api/tokens/${id}` as '/api/tokens/{id}', { rules } as never));
      const ddns = await makeToken('ddns');
      senders.set('dyndns2', (row) => {
        const at = `${url}/nic/update?hostname=${hostOf(row)}.example.com&myip=${address()}`;
        return told(say(at, 'GET', auth(row, ddns.token)));
      });
      for (const [door, token] of [
        ['ddns-go', ddns.token],
        ['certd', acme.token],
      ] as const)
        senders.set(door, (row) => {
          const record =
            door === 'certd'
              ? { name: `_acme-challenge.${hostOf(row)}`, type: 'TXT', value: text() }
              : { name: hostOf(row), type: 'A', value: address() };
          const body = { ...record, ttl: 600, line: '0' };
          return told(say(`${url}/doors/${door}/api/domains/${world.domain}/records`, 'POST', auth(row, token), body));
        });
      const external = await makeToken('external-dns');
      senders.set('external-dns', (row) => {
        const type = 'application/external.dns.webhook+json;version=1';
        const create = [{ dnsName: `${hostOf(row)}${++count}.example.com`, recordType: 'A', targets: [address()] }];
        const headers = { ...auth(row, external.token), 'content-type': type };
        return told(say(`${url}/doors/external-dns/records`, 'POST', headers, { create }));
      });
      const powerdns = await makeToken('powerdns');
      senders.set('powerdns', (row) => {
        const records = [{ content: address(), disabled: false }];
        const rrset = { name: `${hostOf(row)}.example.com.`, type: 'A', ttl: 60, changetype: 'REPLACE', records };
        const headers = { ...json, 'x-api-key': row === 'wrong token' ? WRONG : powerdns.token };
        const at = `${url}/doors/powerdns/api/v1/servers/localhost/zones/example.com.`;
        return told(say(at, 'PATCH', headers, { rrsets: [rrset] }));
      });
      const signer = await makeToken('rfc2136');
      const key = await world.makeKey(signer.id);
      senders.set('rfc2136', async (row) => {
        const by = row === 'wrong token' ? { ...key, secret: Buffer.alloc(32).toString('base64') } : key;
        const name = `${hostOf(row)}${++count}.example.com`;
        const { output } = await nsupdate(world.dnsPort, by, [
          'zone example.com',
          `update add ${name} 300 A ${address()}`,
        ]);
        const [, status = output] = /update failed: (\w+)/.exec(output) ?? [];
        // it does not show the sentence, which others do
        const one = { name: `${name}.`, type: TYPE.A, class: CLASS.IN, ttl: 300, rdata: rdataToWire('A', address()) };
        const answer = await overUdp(world.dnsPort, signedUpdate(by, 'example.com', [[], [one]]), 20_000);
        return { status, text: `${output} ${answer && extendedError(answer)?.text}` };
      });
      const hooked = await makeToken('webhook');
      const input = { domain_id: world.domain, host: 'own', type: 'A' };
      const hook = made(await world.admin.post(`/api/tokens/${hooked.id}/hooks` as '/api/tokens/{id}/hooks', input));
      senders.set('webhook', async (row) => {
        if (row === 'foreign host') await setRules(hooked.id, [{ effect: 'allow', hosts: ['other'] }]);
        const body = JSON.stringify({ value: address() });
        const secret = row === 'wrong token' ? WRONG : hook.secret;
        const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
        const said = await told(
          say(`${url}/doors/hook/${hook.id}`, 'POST', { 'X-Hub-Signature-256': signature }, body),
        );
        await setRules(hooked.id, RULES);
        return said;
      });
    });
    afterAll(() => world?.stop());
    afterEach(() => world.calm());

    for (const door of DOORS)
      for (const row of ROWS)
        it(`${door}: ${row}`, async () => {
          const send = () => senders.get(door)?.(row) as Promise<Told>;
          await world.provoke(row, send);
          const { status, text } = await send();
          const [wanted, ...words] = rowsOf(door).get(row)?.answer ?? [];
          assert.equal(status, wanted, text);
          for (const word of words) assert.ok(text.includes(word), `${word}: ${text}`);
        });
  });
