import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { type Cloudflare, startCloudflare } from '../support/cloudflare.js';
import { databases } from '../support/databases.js';
import { type Client, LocalServer, type Server, type Service, startProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import type { Received } from '../support/vendor.js';
import { addAccount, addDomain, done, made, until } from '../support/world.js';

const ZONE = 'example.com';

// a process of its own, until the last start: it is killed
for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`kill -9 while tunnels are changed, on ${kind}`, () => {
    let service: Service;
    let server: Server;
    let cloudflare: Cloudflare;
    let account: number;

    beforeAll(async () => {
      cloudflare = await startCloudflare(ZONE);
      service = await startProcess(kind);
      server = service.server;
      account = await addAccount(service.admin, 'cloudflare', { api_token: 'token', endpoint: cloudflare.url });
      await addDomain(service.admin, account, ZONE);
    });
    afterAll(async () => {
      await server?.kill();
      await service?.stop();
      await cloudflare?.stop();
    });

    const client = (): Client => server.as(service.token);
    const nameOf = (path: string) => cloudflare.tunnels.kept.find(({ id }) => path.includes(id))?.name;
    const live = () => cloudflare.tunnels.live().map(({ name }) => name);
    const cnames = () => (cloudflare.zones.get(ZONE) ?? []).map(({ name }) => name.split('.')[0] as string);
    const stored = () => rowsOf(service, 'SELECT name, state, unsettled FROM tunnels ORDER BY name');

    /** Where each tunnel's work is cut off: at the provider it is done, and nobody here lives to hear it. */
    const CUTS: Record<string, (request: Received) => boolean> = {
      made: ({ method, path, body }) =>
        method === 'POST' && path.endsWith('/cfd_tunnel') && (body as { name: string }).name === 'made',
      configured: ({ method, path }) => method === 'PUT' && nameOf(path) === 'configured',
      named: ({ method, path, body }) =>
        method === 'POST' && path.endsWith('/dns_records') && (body as { name: string }).name.startsWith('named.'),
      deleted: ({ method, path }) => method === 'DELETE' && nameOf(path) === 'deleted',
      added: ({ method, path, body }) =>
        method === 'POST' && path.endsWith('/dns_records') && (body as { name: string }).name.startsWith('added-more.'),
      changed: ({ method, path }) => method === 'PUT' && nameOf(path) === 'changed',
    };

    it('creations are undone, deletions go on, and CNAMEs follow what the provider holds', async () => {
      const rules = (...hosts: string[]) =>
        hosts.map((host) => ({ hostname: `${host}.${ZONE}`, service: 'http://localhost' }));
      const create = (name: string) =>
        client().post('/api/tunnels', { account_id: account, name, ingress: rules(name) });
      const paths = new Map<string, string>();
      for (const name of ['deleted', 'added', 'changed', 'untouched'])
        paths.set(name, `/api/tunnels/${made(await create(name)).id}`);
      const put = (name: string) =>
        client().put(paths.get(name) as string, { name: `${name}-anew`, ingress: rules(`${name}-more`) });
      const reached = new Set<string>();
      let killed: Promise<unknown> | undefined;
      cloudflare.fault = async (request, apply) => {
        const cut = Object.keys(CUTS).find((name) => CUTS[name]?.(request));
        const answer = apply();
        if (cut === undefined) return answer;
        reached.add(cut);
        await until('all are cut off', async () => reached.size === Object.keys(CUTS).length);
        killed ??= server.kill();
        await killed;
        return answer;
      };
      const calls = [
        ...['made', 'configured', 'named'].map(create),
        client().delete(paths.get('deleted') as string),
        ...['added', 'changed'].map(put),
      ];
      await Promise.all(calls.map((call) => assert.rejects(call)));
      cloudflare.fault = null;
      const left = (await stored()).filter(({ state, unsettled }) => state !== 'ready' || unsettled !== null);
      assert.deepEqual(
        left.map(({ name }) => name),
        Object.keys(CUTS).toSorted(),
        'each left its intent',
      );
      assert.deepEqual(live().toSorted(), ['added', 'changed', 'configured', 'made', 'named', 'untouched']);

      server = await LocalServer.start({ DATABASE_URL: service.databaseUrl }, service.server.dataDir);
      await until('all is settled', async () =>
        (await stored()).every(({ state, unsettled }) => state === 'ready' && unsettled === null),
      );
      assert.deepEqual(live().toSorted(), ['added', 'changed', 'untouched']);
      assert.deepEqual(cnames().toSorted(), ['added', 'changed-more', 'untouched']);
      const list = done(await client().get('/api/tunnels?sort=name'));
      assert.deepEqual(
        list.map(({ name, ingress, last_error }) => [name, ingress[0]?.hostname, last_error]),
        [
          ['added', `added.${ZONE}`, null],
          ['changed', `changed-more.${ZONE}`, null],
          ['untouched', `untouched.${ZONE}`, null],
        ],
      );
      const entries = done(await client().get('/api/audit/logs?action=tunnel.create&limit=10')).list;
      const undone = entries.filter(({ result, actor }) => result === 'failed' && actor.type === 'system');
      assert.deepEqual(undone.map(({ target }) => target?.name).toSorted(), ['configured', 'made', 'named']);
      // what was begun can be wished once more
      done(await client().put(paths.get('changed') as string, { name: 'changed-anew' }));
      made(await create('made'));
      assert.ok(live().includes('changed-anew'));
    });
  });
}
