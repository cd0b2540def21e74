// Time and memory of a plan over 10 000 records with 100 differences, and of one more change of a zone of 100 000
// records, before and after some dozens of versions. `npm run bench:plans`.
import { readFileSync } from 'node:fs';
import { startPowerdns } from './powerdns.mjs';
import { onEachDatabase } from './service.mjs';
import { size } from './short.mjs';

const PLANNED = size(10_000, 200);
const DIFFERENCES = size(100, 10);
const LARGE = size(100_000, 200);
const CHANGES = size(10, 2);
const VERSIONS = size(60, 2);

const pdns = await startPowerdns();
if (!pdns) {
  console.log('plans: left out, PowerDNS is not installed');
  process.exit(0);
}
let zones = 0;

/** records that PowerDNS takes at once */
const PIECE = size(10_000, 200);

/** Creates a zone of so many A records at PowerDNS. @returns its name */
async function zoneOf(records) {
  const zone = `plans-${++zones}.example`;
  await send('POST', 'zones', { name: `${zone}.`, kind: 'Native', nameservers: ['ns1.example.net.'] });
  for (let from = 0; from < records; from += PIECE) {
    const rrsets = Array.from({ length: PIECE }, (_none, i) => ({
      name: `host-${from + i}.${zone}.`,
      type: 'A',
      ttl: 300,
      changetype: 'REPLACE',
      records: [{ content: addressOf(from + i), disabled: false }],
    }));
    await send('PATCH', `zones/${zone}.`, { rrsets });
  }
  return zone;
}

async function send(method, path, body) {
  const url = `${pdns.url}/api/v1/servers/localhost/${path}`;
  const answer = await fetch(url, { method, headers: { 'x-api-key': pdns.key }, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
}

const addressOf = (i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;

async function timed(work) {
  const begun = performance.now();
  const made = await work();
  return [Math.round(performance.now() - begun), made];
}

/** ms of processor time that a process has used */
function processorMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

/** Plans a zone file that differs at some records. */
async function plan({ get, post, peakMiB, domainOf }) {
  const domain = await domainOf(await zoneOf(PLANNED));
  const [reading] = await timed(() => get(`/api/domains/${domain}/records?refresh=true&limit=1`));
  const lines = Array.from({ length: PLANNED }, (_none, i) => {
    const differs = i % (PLANNED / DIFFERENCES) === 0;
    return `host-${i} 300 IN A ${differs ? `192.0.2.${(i / DIFFERENCES) % 250}` : addressOf(i)}`;
  });
  const document = { format: 'zonefile', text: `${lines.join('\n')}\n` };
  const [planning, { summary }] = await timed(() =>
    post(`/api/domains/${domain}/plans`, { document, mode: 'sync', types: ['A'] }),
  );
  const found = summary.update + Math.min(summary.create, summary.delete);
  if (found !== DIFFERENCES) throw new Error(`the plan has ${JSON.stringify(summary)}`);
  return `a plan of ${DIFFERENCES} differences over ${PLANNED} records ${planning} ms, the reading of the zone alone ${reading} ms (goal: 2000 ms beside it), peak ${peakMiB()} MiB (goal: 300)`;
}

/** Changes a large zone again and again. */
async function change({ post, pid, domainOf }) {
  const domain = await domainOf(await zoneOf(LARGE));
  let made = 0;
  const some = async (count) => {
    const times = [];
    const used = processorMs(pid);
    for (let i = 0; i < count; i++, made++) {
      const record = { host: `more-${made}`, type: 'A', value: '192.0.2.1' };
      times.push((await timed(() => post(`/api/domains/${domain}/records`, record)))[0]);
    }
    return `${median(times)} ms (processor ${((processorMs(pid) - used) / count).toFixed(1)} ms)`;
  };
  await some(CHANGES);
  const first = await some(CHANGES);
  await some(VERSIONS);
  return `a change of a zone of ${LARGE} records ${first}, after ${made} versions ${await some(CHANGES)}`;
}

try {
  await onEachDatabase(async ({ url, token, post, ...service }) => {
    const get = async (path) => {
      const answer = await (await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })).json();
      if (answer.code !== 0) throw new Error(`${path}: ${answer.msg}`);
      return answer.data;
    };
    const credentials = { url: pdns.url, api_key: pdns.key };
    const account = await post('/api/accounts', { provider: 'powerdns', name: 'plans', credentials });
    const domainOf = async (name) => {
      const { id } = await post('/api/domains', { name, account_id: account.id });
      await get(`/api/domains/${id}/records?refresh=true&limit=1`);
      return id;
    };
    const all = { ...service, get, post, domainOf };
    return `${await plan(all)}; ${await change(all)}`;
  });
} finally {
  await pdns.stop();
}
