import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { noNginx, startNginx } from '../support/nginx.js';
import { ServerProcess, startProcess } from '../support/server.js';
import { sleep } from '../support/sleep.js';
import { atEndOfTest, describeUnless, thorough } from '../support/suites.js';
import { until } from '../support/until.js';
import { made } from '../support/world.js';

const atEnd = atEndOfTest();
const RESTARTS = thorough ? 20 : 1;
/** ms; only catches a hang: each process drains for seconds */
const HANGS_MS = 180_000 * (1 + RESTARTS);
/** ms between two requests of a client */
const DIRECT_MS = 100;
const PROXIED_MS = 20;
/** ms after which nginx asks a server again that was away */
const NGINX_MS = 2500;
const SECRET_KEY = 'the-same-key-of-both-replicas-0123456789';

interface Call {
  port: number;
  path?: string;
  agent?: Agent;
  token?: string;
  method?: string;
}
async function ask({ port, path = '/health/live', agent, token, method = 'GET' }: Call): Promise<IncomingMessage> {
  const headers = {
    ...(token && { authorization: `Bearer ${token}` }),
    ...(method === 'POST' && { 'content-length': 0 }),
  };
  const call = request({ host: '127.0.0.1', port, path, agent, method, headers }).end();
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  return answer;
}
const portOf = (server: ServerProcess) => Number(new URL(server.url).port);

describe('a service that is told to end', () => {
  it('says that it is not ready, goes on taking requests, and ends each connection with an answer', async () => {
    const { server, token, stop } = await startProcess('sqlite', { DRAIN_MS: '300000' });
    atEnd(stop);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    atEnd(() => agent.destroy());
    const port = portOf(server);
    const before = await ask({ port, agent });
    assert.equal(before.headers.connection, 'keep-alive');

    process.kill(server.pid, 'SIGTERM');
    for (let ready = 200; ready !== 503; ) ready = (await ask({ port, path: '/health/ready' })).statusCode as number;
    for (const path of ['/health/live', '/api/auth/me', '/no-such-page']) {
      const answer = await ask({ port, agent, path, token });
      assert.equal(answer.headers.connection, 'close', path);
      assert.notEqual(answer.statusCode, 503, path);
    }
    made(await server.as(token).post('/api/tokens', { name: 'while it drains' }));
    // the second signal ends the wait
    assert.equal(await server.stop(), 0);
    assert.match(server.log, /"msg":"stopping"/);
  });

  it('does not wait where somebody at a terminal ends it', async () => {
    const { server, stop } = await startProcess('sqlite', { DRAIN_MS: '300000' });
    atEnd(stop);
    process.kill(server.pid, 'SIGINT');
    await until('it has ended', async () => !(await ask({ port: portOf(server) }).catch(() => null)));
  });
});

for (const { kind, skip } of databases('postgresql')) {
  describeUnless(skip || noNginx)(`replicas on ${kind} that are restarted one after the other`, () => {
    it(
      'answer the requests that come through nginx and on kept-alive connections',
      async () => {
        const first = await startProcess(kind, { SECRET_KEY, DRAIN_MS: '5000' });
        atEnd(first.stop);
        const env = { SECRET_KEY, DRAIN_MS: '5000', DATABASE_URL: first.databaseUrl };
        const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-replica-'));
        atEnd(() => rmSync(dataDir, { recursive: true, force: true }));
        const replicas = [first.server, await ServerProcess.start(env, dataDir)];
        atEnd(async () => void (await Promise.all(replicas.map((replica) => replica.kill()))));
        const ports = replicas.map(portOf);
        const nginx = await startNginx(ports);
        atEnd(nginx.stop);

        const troubles: string[] = [];
        let on = true;
        let asked = 0;
        const clients = async (count: number, ports: readonly number[], method: string) => {
          const agent = new Agent({ keepAlive: true });
          const one = async (i: number) => {
            while (on) {
              const call = { port: ports[i % ports.length] as number, agent, token: first.token, method };
              const path = method === 'POST' ? '/api/profile/nothing-here' : '/api/auth/me';
              await ask({ ...call, path }).then(
                ({ statusCode = 0 }) => {
                  asked++;
                  if (statusCode >= 500) troubles.push(`${method} ${call.port}: ${statusCode}`);
                },
                // who asks a replica past the proxy finds its port closed while it is away
                ({ code }) => code !== 'ECONNREFUSED' && troubles.push(`${method} ${call.port}: ${code}`),
              );
              await sleep(ports === direct ? DIRECT_MS : PROXIED_MS);
            }
          };
          await Promise.all(Array.from({ length: count }, (_none, i) => one(i))).finally(() => agent.destroy());
        };
        const direct = ports;
        const load = Promise.all([
          clients(8, [nginx.port], 'GET'),
          clients(8, [nginx.port], 'POST'),
          clients(RESTARTS * 10, direct, 'GET'),
        ]);
        for (let i = 0; i < RESTARTS; i++) {
          const at = i % 2;
          const was = asked;
          assert.equal(await (replicas[at] as ServerProcess).stop(), 0);
          const { dataDir } = replicas[at] as ServerProcess;
          replicas[at] = await ServerProcess.start({ ...env, PORT: String(ports[at]) }, dataDir);
          assert.ok(asked > was);
          await sleep(NGINX_MS);
        }
        on = false;
        await load;
        assert.deepEqual(troubles, [], `${asked} answered, but:\n${nginx.log()}`);
      },
      HANGS_MS,
    );
  });
}
