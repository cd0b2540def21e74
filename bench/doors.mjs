// 200 routers, each with a host of its own, tell their addresses every five seconds for two minutes; each fiftieth
// time another one. Goals: no wrong answer, 99 % within 250 ms, and an unchanged address writes nothing. DOORS_SECONDS
// (120). `npm run bench:doors`, on SQLite, or on the server that DATABASE_URL names.
import { setTimeout as sleep } from 'node:timers/promises';
import { startPowerdns } from './powerdns.mjs';
import { onEachDatabase } from './service.mjs';
import { size } from './short.mjs';

const ROUTERS = size(200, 10);
const EVERY_MS = size(5_000, 100);
const SECONDS = Number(process.env.DOORS_SECONDS ?? size(120, 1));
const ZONE = 'routers.example';
const CHANGES_EACH = 50;

process.env.DATABASE_URL ??= 'sqlite:bench.db';
const pdns = await startPowerdns();
if (!pdns) {
  console.log('doors: left out, PowerDNS is not installed');
  process.exit(0);
}

const addressOf = (router, turn) => `10.${turn % 250}.${router >> 8}.${router & 255}`;

async function measure({ url, token, post }) {
  await fetch(`${pdns.url}/api/v1/servers/localhost/zones`, {
    method: 'POST',
    headers: { 'x-api-key': pdns.key, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `${ZONE}.`, kind: 'Native', nameservers: ['ns1.example.net.'] }),
  });
  const credentials = { url: pdns.url, api_key: pdns.key };
  const { id: account_id } = await post('/api/accounts', { provider: 'powerdns', name: 'bench', credentials });
  const { id } = await post('/api/domains', { name: ZONE, account_id });
  const { token: secret } = await post('/api/tokens', { name: 'routers', allowed_services: ['ddns'] });
  const authorization = `Basic ${Buffer.from(`router:${secret}`).toString('base64')}`;
  const [times, moves] = [[], []];
  let [changed, wrong] = [0, 0];
  const update = async (router, turn, expected) => {
    const address = addressOf(router, turn);
    const begun = performance.now();
    const answer = await fetch(`${url}/nic/update?hostname=r${router}.${ZONE}&myip=${address}`, {
      headers: { authorization },
    });
    const text = await answer.text();
    const took = performance.now() - begun;
    times.push(took);
    if (expected === 'good') moves.push(took);
    if (text === `good ${address}`) changed++;
    if (text === `${expected} ${address}`) return;
    if (wrong++ < 5) console.log(`  r${router}: ${text} in place of ${expected} ${address}`);
  };
  for (let router = 0; router < ROUTERS; router++) await update(router, 0, 'good');
  times.length = 0;
  moves.length = 0;
  const end = performance.now() + SECONDS * 1000;
  const live = async (router) => {
    let [turn, asked] = [0, router];
    await sleep((EVERY_MS * router) / ROUTERS);
    while (performance.now() < end) {
      const begun = performance.now();
      const expected = ++asked % CHANGES_EACH ? 'nochg' : 'good';
      if (expected === 'good') turn++;
      await update(router, turn, expected);
      await sleep(Math.max(0, EVERY_MS - (performance.now() - begun)));
    }
  };
  // what a machine that others keep busy takes for a request of nothing
  const nothing = [];
  const idle = async () => {
    while (performance.now() < end) {
      const begun = performance.now();
      await (await fetch(`${url}/health/live`)).text();
      nothing.push(performance.now() - begun);
      await sleep(50);
    }
  };
  await Promise.all([idle(), ...Array.from({ length: ROUTERS }, (_none, router) => live(router))]);
  const headers = { authorization: `Bearer ${token}` };
  const sets = await fetch(`${url}/api/domains/${id}/changes?door=door&limit=1`, { headers });
  const written = (await sets.json()).data.total;
  const at = (list, share) => `${Math.round(list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) * share)])} ms`;
  const spread = `median ${at(times, 0.5)}, p99 ${at(times, 0.99)} (goal: 250), at most ${at(times, 1)}; changes alone: median ${at(moves, 0.5)}`;
  const beside = `/health/live meanwhile: median ${at(nothing, 0.5)}, p99 ${at(nothing, 0.99)}`;
  const ends = `${wrong} wrong answers, ${written - changed} needless writes`;
  return `${times.length} updates, ${changed - ROUTERS} of them changes: ${spread}; ${ends}; ${beside}`;
}

try {
  await onEachDatabase(measure);
} finally {
  await pdns.stop();
}
