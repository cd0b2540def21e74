import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { type Route53, startRoute53 } from '../providers/route53/stand-in.js';
import { databases } from '../support/databases.js';
import { type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, done, made, refused } from '../support/world.js';

const NAME = 'contract.example';
const ACME = '_acme-challenge';

interface Domain {
  id: number;
  name: string;
  unicode_name: string;
  remote_id: string;
  private: boolean;
  status: string;
}

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`private zones beside public ones, on ${kind}`, () => {
    let vendor: Route53;
    let service: Service;
    let admin: Client;
    let account: number;

    beforeAll(async () => {
      vendor = await startRoute53();
      vendor.zones.unshift({ id: 'ZP', hidden: true });
      service = await startService(kind, { OUTBOUND_ALLOW: '127.0.0.0/8' });
      ({ admin } = service);
      const credentials = { access_key_id: 'AKID', secret_access_key: 'a-secret-key', endpoint: vendor.url };
      account = await addAccount(admin, 'route53', credentials);
    });
    afterAll(async () => {
      await service?.stop();
      await vendor?.stop();
    });

    const sync = async (): Promise<Record<string, unknown>> => ({
      ...done(await admin.post(`/api/accounts/${account}/sync`)),
    });
    const domains = async (query = '') => done(await admin.get(`/api/domains${query}`)) as Domain[];
    const named = async () => (await domains(`?name=${NAME}`))[0] as Domain;
    const bound = async () =>
      Object.fromEntries((await domains()).map((one) => [one.remote_id, `${one.id} ${one.name} ${one.status}`]));
    /** The zones that hold a text at the name of ACME challenges. */
    const holding = (value: string) =>
      ['ZP', 'Z1', 'Z2'].filter((id) =>
        [...vendor.setsOf(id).values()].some(
          ({ name, values }) => name.startsWith(ACME) && values.includes(`"${value}"`),
        ),
      );
    let open: number;
    let hidden: number;

    it('refuses a name that only a private zone has', async () => {
      const [zone] = vendor.zones.splice(1);
      const { msg } = refused(await admin.post('/api/domains', { name: NAME, account_id: account }), 409, 409001);
      assert.match(msg, /as a private zone only/);
      assert.ok(zone);
      vendor.zones.push(zone);
    });

    it('are domains of their own, which no name finds', async () => {
      assert.deepEqual(await sync(), { added: 2, updated: 0, missing: 0, failed: 0 });
      const found = await domains();
      assert.equal(found.length, 2);
      for (const { id, ...about } of found) {
        if (about.private) hidden = id;
        else open = id;
        const shown = about.private ? `${NAME} (ZP)` : NAME;
        assert.deepEqual([about.name, about.unicode_name], [shown, shown]);
        const detail = done(await admin.get(`/api/domains/${id}`)) as Domain;
        assert.deepEqual([detail.name, detail.private], [shown, about.private]);
        // what is shown can be sent back
        done(await admin.put(`/api/domains/${id}`, { ...detail, remark: 'sent back' }));
      }
      assert.deepEqual(
        (await domains(`?name=${NAME}`)).map(({ id }) => id),
        [open],
      );
      assert.deepEqual((await domains(`?name=${encodeURIComponent(`${NAME} (ZP)`)}`)).length, 0);
      refused(await admin.post('/api/domains', { name: NAME, account_id: account }), 409, 409001);
    });

    it('have records of their own, and an ACME challenge goes to the public zone, by name and by token', async () => {
      made(await admin.post(`/api/domains/${(await named()).id}/records`, { host: ACME, type: 'TXT', value: 'name' }));
      assert.deepEqual(holding('name'), ['Z1']);
      const body = { name: 'acme', allowed_domains: [open], preset: { name: 'acme' } };
      const { token } = made(await admin.post('/api/tokens', body)) as unknown as { token: string };
      const client = service.server.as(token);
      const [only] = done(await client.get(`/api/domains?name=${NAME}`)) as Domain[];
      made(await client.post(`/api/domains/${only?.id}/records`, { host: ACME, type: 'TXT', value: 'token' }));
      assert.deepEqual(holding('token'), ['Z1']);
      made(await admin.post(`/api/domains/${hidden}/records`, { host: ACME, type: 'TXT', value: 'inside' }));
      assert.deepEqual(holding('inside'), ['ZP']);
    });

    it('are not looked at from outside', async () => {
      const path = `/api/domains/${hidden}` as const;
      refused(await admin.get(`${path}/health`), 409, 409001);
      refused(await admin.post(`${path}/expiry`), 409, 409001);
      refused(await admin.put(path, { watch_certificates: true }), 409, 409001);
      const [record] = done(await admin.get(`${path}/records`)).list;
      assert.match(
        refused(await admin.get(`${path}/records/${record?.id}/propagation`), 409, 409001).msg,
        /ZP\) is a private zone/,
      );
    });

    it('keep a domain while they are listed, and others of the name are told', async () => {
      vendor.zones.unshift({ id: 'Z2' });
      const conflicts = [{ name: NAME, kept: 'Z1', others: ['Z2'] }];
      assert.deepEqual(await sync(), { added: 0, updated: 2, missing: 0, failed: 0, conflicts });
      assert.equal((await named()).remote_id, 'Z1');
      vendor.zones.reverse();
      assert.deepEqual((await sync()).conflicts, conflicts);
      made(await admin.post(`/api/domains/${open}/records`, { host: ACME, type: 'TXT', value: 'bound' }));
      assert.deepEqual(holding('bound'), ['Z1']);
    });

    it('lose it to a public one when they are gone, which is told', async () => {
      vendor.zones.splice(
        vendor.zones.findIndex(({ id }) => id === 'Z1'),
        1,
      );
      const rebound = [{ name: NAME, from: 'Z1', to: 'Z2' }];
      assert.deepEqual((await sync()).rebound, rebound);
      assert.deepEqual(await bound(), { Z2: `${open} ${NAME} active`, ZP: `${hidden} ${NAME} (ZP) active` });
      const { list } = done(await admin.get('/api/audit/logs?action=account.sync&limit=1')) as unknown as {
        list: { after: { rebound: object } }[];
      };
      assert.deepEqual(list[0]?.after.rebound, rebound);
      assert.equal((await sync()).rebound, undefined);
    });

    it('are missing without a public zone taking their place', async () => {
      vendor.zones.splice(
        vendor.zones.findIndex(({ id }) => id === 'ZP'),
        1,
      );
      assert.equal((await sync()).missing, 1);
      assert.equal((await bound()).ZP, `${hidden} ${NAME} (ZP) missing`);
    });

    it('keep the domain that was bound to them, and the public one is new', async () => {
      const zone = vendor.zones.find(({ id }) => id === 'Z2');
      assert.ok(zone);
      zone.hidden = true;
      vendor.zones.push({ id: 'Z1' });
      const { added, became_private } = await sync();
      assert.deepEqual([added, became_private], [1, [NAME]]);
      const { id, remote_id } = await named();
      assert.notEqual(id, open);
      assert.equal(remote_id, 'Z1');
      assert.equal((await bound()).Z2, `${open} ${NAME} (Z2) active`);
    });

    it('get the name of a domain whose zone is gone when they become public', async () => {
      const { id } = await named();
      vendor.zones.splice(0, Number.POSITIVE_INFINITY, { id: 'Z2' });
      const { missing, became_public, became_private } = await sync();
      assert.deepEqual([missing, became_public, became_private], [2, [NAME], undefined]);
      assert.equal((await named()).id, open);
      const now = await bound();
      assert.deepEqual([now.Z2, now.Z1], [`${open} ${NAME} active`, `${id} ${NAME} (Z1) missing`]);
      vendor.zones.push({ id: 'Z1' });
      assert.deepEqual((await sync()).conflicts, [{ name: NAME, kept: 'Z2', others: ['Z1'] }]);
      assert.equal((await bound()).Z1, `${id} ${NAME} (Z1) active`);
    });
  });
}
