import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { RCODE } from '../../src/dns/wire.js';
import type { DoorView } from '../../src/doors/doors.dto.js';
import { freePort } from '../support/bind.js';
import { databases } from '../support/databases.js';
import { basic, type Said, say } from '../support/doors.js';
import { nsupdate } from '../support/nsupdate.js';
import { noPowerdns } from '../support/powerdns.js';
import type { Answer } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, made, startWorld, type World } from '../support/world.js';

/** The address of the service in the pages. */
const BASE = 'https://dns.example.com';
const TOOLS = /<!-- tools[^>]*-->\n[\s\S]*?(?=\n## )/;
const NOTE = '<!-- tools, as GET /api/doors has them: UPDATE_DOCS=1 npx jest test/doors/docs -->\n';

const pageOf = (key: string): string => join(process.cwd(), `docs/doors/${key}.md`);

const toolsOf = ({ tools }: DoorView): string =>
  NOTE + tools.map(({ name, snippet }) => `\n### ${name}\n\n\`\`\`\n${snippet}\n\`\`\`\n`).join('');

const CHALLENGE = { fqdn: '_acme-challenge.www.example.com.', value: 'LHDhK3oGRvkiefQnx7OOczTY5Tic_xZ6HcMOc_gmtoM' };

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noPowerdns)(`the pages of the doors, on ${kind}`, () => {
    let world: World;
    let doors: DoorView[];
    let port: number;

    beforeAll(async () => {
      port = await freePort();
      world = await startWorld(kind, { BASE_URL: BASE, DNS_PORT: String(port), DNS_HOST: '127.0.0.1' });
      const open = { enabled: true };
      done(await world.admin.put('/api/settings/doors', { powerdns: open, rfc2136: open }));
      doors = done(await world.admin.get('/api/doors'));
    });
    afterAll(() => world.stop());

    it('have what to paste into each tool', () => {
      for (const door of doors) {
        const page = readFileSync(pageOf(door.key), 'utf8');
        // that of this test is another one in each run
        door.tools.forEach((tool) => {
          tool.snippet = tool.snippet.replaceAll(String(port), '53');
        });
        const told = page.replace(TOOLS, () => toolsOf(door));
        if (process.env.UPDATE_DOCS) writeFileSync(pageOf(door.key), told);
        else assert.equal(page, told);
      }
    });

    it('make a token that the door takes', async () => {
      const { url } = world.server;
      const uses: Record<string, (authorization: string, key: string) => Promise<Said>> = {
        httpreq: (authorization) => say(`${url}/doors/httpreq/present`, 'POST', { authorization }, CHALLENGE),
        'acme-dns': (authorization) => say(`${url}/doors/acme-dns/register`, 'POST', { authorization }, {}),
        'external-dns': (authorization) => say(`${url}/doors/external-dns/records`, 'GET', { authorization }),
        'ddns-go': (authorization) => say(`${url}/doors/ddns-go/api/domains`, 'GET', { authorization }),
        certd: (authorization) => say(`${url}/doors/certd/api/domains`, 'GET', { authorization }),
        dyndns2: (authorization) =>
          say(`${url}/nic/update?hostname=home.example.com&myip=192.0.2.1`, 'GET', { authorization }),
        powerdns: (_none, key) =>
          say(`${url}/doors/powerdns/api/v1/servers/localhost/zones/example.com.`, 'GET', { 'x-api-key': key }),
      };
      // of the hook that the page makes for the token, where the answer shows one
      const hooked = async (id: number): Promise<Said> => {
        const page = readFileSync(pageOf('webhook'), 'utf8');
        const input = JSON.parse(/--data '(\{.*\})'/.exec(page)?.[1] ?? '');
        const path = `/api/tokens/${id}/hooks` as const;
        const hook = made(await world.admin.post(path, { ...input, domain_id: world.domain }));
        const body = '{"value": "192.0.2.7"}';
        const signature = `sha256=${createHmac('sha256', hook.secret).update(body).digest('hex')}`;
        return say(`${url}/doors/hook/${hook.id}`, 'POST', { 'X-Hub-Signature-256': signature }, body);
      };
      // with the key that the page makes for the token
      const updated = async (id: number): Promise<Said> => {
        const input = JSON.parse(/--data '(\{.*\})'/.exec(readFileSync(pageOf('rfc2136'), 'utf8'))?.[1] ?? '');
        const key = made(await world.admin.post(`/api/tokens/${id}/tsig-key` as '/api/tokens/{id}/tsig-key', input));
        const { ok, output } = await nsupdate(port, key, ['update add _acme-challenge.example.com 60 TXT "x"']);
        return { status: ok ? 200 : 403, type: '', text: output, headers: new Headers() };
      };
      const byId: Record<string, (id: number) => Promise<Said>> = { webhook: hooked, rfc2136: updated };
      for (const { key } of doors) {
        const [, body = ''] = /-d '(\{.*\})'\n/.exec(readFileSync(pageOf(key), 'utf8')) ?? [];
        const { token, tokenData } = made(
          (await world.admin.post('/api/tokens', JSON.parse(body))) as Answer<{
            token: string;
            tokenData: { id: number };
          }>,
        );
        const answer = await (byId[key]?.(tokenData.id) ?? uses[key]?.(basic(token), token));
        assert.ok(answer && answer.status < 300, `${key} ${answer?.status} ${answer?.text}`);
        if (key === 'dyndns2') assert.equal(answer.text, 'good 192.0.2.1');
      }
    });

    it('name every word that the door has for a failure', () => {
      const words: Record<string, string[]> = {
        'acme-dns': ['malformed_json_payload', 'bad_subdomain', 'bad_txt', 'invalid_allowfrom_cidr', 'forbidden'],
        rfc2136: [...Object.keys(RCODE), 'BADKEY', 'BADSIG', 'BADTIME'].filter((word) => word !== 'NOERROR'),
        dyndns2: [
          'badauth',
          'nohost',
          '!yours',
          'notfqdn',
          'numhost',
          'badsys',
          '!donator',
          'badagent',
          'dnserr',
          '911',
        ],
      };
      for (const [key, list] of Object.entries(words)) {
        const page = readFileSync(pageOf(key), 'utf8');
        for (const word of list) assert.ok(page.includes(`\`${word}\``), `${key} ${word}`);
      }
    });
  });
