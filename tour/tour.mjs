// The guided tour: the whole main job on a throw-away instance with the embedded database and zone files. Every request
// is shown as a curl command that can be copied, every answer as it came.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startThrowaway } from '../scripts/throwaway.mjs';

const MAX_LINES = 24;
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };

const shown = { passed: 0, failed: 0 };
const variables = {};
let service;

function check(what, ok) {
  shown[ok ? 'passed' : 'failed'] += 1;
  console.log(ok ? '✓ as expected\n' : `✗ NOT AS EXPECTED: ${what}\n`);
}

const chapter = (title) => console.log(`\n## ${title}\n`);
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** JSON for people: what fits a line and each entry of a list stands on one; long lines and answers are cut. */
function pretty(value) {
  const short = (item, depth) => {
    const line = JSON.stringify(item);
    if (item === null || typeof item !== 'object' || line.length <= 110 - depth * 2) return line;
    const pad = '  '.repeat(depth + 1);
    const parts = Array.isArray(item)
      ? item.map((entry) => pad + JSON.stringify(entry))
      : Object.entries(item).map(([key, entry]) => `${pad}${JSON.stringify(key)}: ${short(entry, depth + 1)}`);
    const [open, close] = Array.isArray(item) ? '[]' : '{}';
    return `${open}\n${parts.join(',\n')}\n${'  '.repeat(depth)}${close}`;
  };
  const lines = short(value, 0).split('\n');
  const cut =
    lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), `… ${lines.length - MAX_LINES} more lines`] : lines;
  return cut.map((line) => (line.length > 160 ? `${line.slice(0, 160)} …` : line)).join('\n');
}

/**
 * One request: printed, sent, printed. `as` names the shell variable that holds the credential.
 * @returns the answer's data
 */
async function call(title, method, path, { as, body, expect = 200, holds = () => true } = {}) {
  const curl = [
    `curl -sS ${method === 'GET' ? '' : `-X ${method} `}"$URL${path}"`,
    ...(as ? [`-H "Authorization: Bearer $${as}"`] : []),
    ...(body ? [`-H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`] : []),
  ];
  console.log(`# ${title}\n${curl.join(' \\\n  ')}\n`);
  const response = await fetch(service.url + path, {
    method,
    headers: {
      ...(as ? { authorization: `Bearer ${variables[as]}` } : {}),
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    body: body && JSON.stringify(body),
  });
  const answer = await response.json();
  console.log(`HTTP ${response.status}\n${pretty(answer)}`);
  const ok =
    response.status === expect && answer.code === (expect < 300 ? 0 : answer.code) && holds(answer.data, answer);
  check(title, ok);
  return answer.data;
}

/** Remembers a credential, and says how the reader does. */
function remember(name, value) {
  variables[name] = value;
  console.log(`${name}=${String(value).slice(0, 12)}…   # from the answer above\n`);
}

async function tour() {
  console.log(`# Zoneward: the main job, step by step\n\nURL=${service.url}`);

  chapter('Set up');
  const fresh = { holds: (data) => data.initialized === false };
  await call('A new installation', 'GET', '/api/init/status', fresh);
  const database = { type: 'sqlite', sqlite: { path: 'zoneward.db' } };
  const works = { body: database, holds: (data) => data.success };
  await call('Try a database; nothing is created', 'POST', '/api/init/test-db', works);
  await call('Choose it: the embedded default', 'POST', '/api/init/database', works);
  await call('The first administrator', 'POST', '/api/init/admin', { body: ADMIN, holds: (data) => data.success });
  const login = await call('Log in', 'POST', '/api/auth/login', { body: ADMIN, holds: (data) => data.token });
  remember('JWT', login.token);

  chapter('An account and its domains');
  const as = 'JWT';
  await call('What providers are there?', 'GET', '/api/providers', {
    as,
    holds: (data) => ['cloudflare', 'powerdns', 'rfc2136', 'zonefile'].every((k) => data.some((p) => p.kind === k)),
  });
  const zonefile = { provider: 'zonefile', name: 'Local zone files', credentials: {} };
  const account = await call('An account of zone files, which needs no credentials', 'POST', '/api/accounts', {
    as,
    body: zonefile,
    expect: 201,
  });
  const addDomain = (name) => ({ as, expect: 201, body: { name, account_id: account.id, create: true } });
  const domain = await call('A domain; the zone is created, too', 'POST', '/api/domains', addDomain('example.com'));
  const other = await call('Another one', 'POST', '/api/domains', addDomain('example.org'));

  chapter('Records');
  const records = `/api/domains/${domain.id}/records`;
  const create = (title, body) => call(title, 'POST', records, { as, body, expect: 201, holds: (data) => data.id > 0 });
  const www = await create('An address', { host: 'www', type: 'A', value: '192.0.2.10', ttl: 300 });
  const second = await create('A second one at the same name', { host: 'www', type: 'A', value: '192.0.2.11' });
  await create('A text: as it is, without outer quotes', { host: '@', type: 'TXT', value: 'v=spf1 mx -all' });
  await create('A mail server', { host: '@', type: 'MX', value: 'mail.example.com', priority: 10 });
  const addresses = (values) => (data) => isDeepEqual(data.list.map((record) => record.value).sort(), values);
  const list = (title, values) => call(title, 'GET', `${records}?host=www`, { as, holds: addresses(values) });
  await list('Both addresses', ['192.0.2.10', '192.0.2.11']);
  await call('Change one value; the other stays', 'PUT', `${records}/${www.id}`, {
    as,
    body: { value: '192.0.2.20' },
    holds: (data) => data.value === '192.0.2.20' && data.ttl === 300,
  });
  await list('The result', ['192.0.2.11', '192.0.2.20']);
  const status = (title, enabled) =>
    call(title, 'PATCH', `${records}/${www.id}/status`, {
      as,
      body: { enabled },
      holds: (data) => data.enabled === enabled && zone('example.com', '192.0.2.20') === enabled,
    });
  await status('Take it out of DNS', false);
  await status('And put it back', true);
  await call('Delete the other one', 'DELETE', `${records}/${second.id}`, { as });
  await list('One is left', ['192.0.2.20']);

  chapter('A pipeline with a token of its own');
  const made = await call('A token for one domain, and nothing else', 'POST', '/api/tokens', {
    as,
    body: { name: 'pipeline', allowed_domains: [domain.id] },
    expect: 201,
    holds: (data) => data.token.startsWith('svc_'),
  });
  remember('TOKEN', made.token);
  const challenge = { host: '_acme-challenge', type: 'TXT', value: 'a-token-of-the-pipeline', ttl: 60 };
  await call('The pipeline creates a record', 'POST', records, { as: 'TOKEN', body: challenge, expect: 201 });
  await call('Another domain is refused', 'GET', `/api/domains/${other.id}/records`, {
    as: 'TOKEN',
    expect: 403,
    holds: (_, answer) => answer.code === 403001,
  });

  chapter('Synchronise, and look back');
  await call('Read everything again from the provider', 'POST', `/api/accounts/${account.id}/sync`, {
    as,
    holds: (data) => data.updated === 2 && data.added === 0 && data.missing === 0 && data.failed === 0,
  });
  await call('Who did what?', 'GET', '/api/audit/logs?domain=example.com&limit=3', {
    as,
    holds: (data) => data.list.some((entry) => entry.actor.token_name === 'pipeline'),
  });

  chapter('The zone file');
  console.log(`# cat "$DATA_DIR/zones/example.com.zone"\n${readZone('example.com')}`);
  const kept = ['192.0.2.20', 'v=spf1 mx -all', 'mail.example.com', '_acme-challenge'];
  check(
    'The zone file holds what was kept',
    kept.every((text) => zone('example.com', text)),
  );
  check('and not what was deleted', !zone('example.com', '192.0.2.11'));
}

const isDeepEqual = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const readZone = (name) => readFileSync(join(service.dataDir, 'zones', `${name}.zone`), 'utf8');
/** Whether a line of the zone that is not a comment holds this text. */
const zone = (name, text) =>
  readZone(name)
    .split('\n')
    .some((line) => !line.startsWith(';') && line.includes(text));

try {
  service = await startThrowaway({ LOG_LEVEL: 'info' });
  await tour();
} catch (error) {
  shown.failed += 1;
  console.error(error);
} finally {
  await service?.stop();
}
console.log(`${shown.passed} passed, ${shown.failed} failed`);
process.exitCode = shown.failed ? 1 : 0;
