// Proves an adapter on a real account: the contract suite under one label of a zone, and a report to send in.
// docs/writing-a-provider.md tells how; `--help` lists the options.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { cleanUp } from './provider-check/clean-up.mjs';
import { credentialsIn, credentialsOf } from './provider-check/credentials.mjs';
import { anonymous, hiding, wordsOf, writeReport } from './provider-check/report.mjs';
import { startSuite } from './provider-check/suite.mjs';

const USAGE = `usage: npm run provider:check -- <kind> --zone <name> | --make-zone <name> [options]
  --zone name         a zone of the account; it may be in use
  --make-zone name    makes a zone, and removes it where the provider lets us (implies --write)
  --write             runs the suite; without it the zone is only read
  --credentials file  JSON: {"<kind>": {…}} or the fields alone; CHECK_API_TOKEN for api_token takes their place
  --insecure          takes the file although others can read it
  --label name        everything is written at and below this name, which begins with zoneward-check- (and has four
                      random digits where it is left out)
  --apex              tries the whole zone, which has to be empty
  --not-empty         takes a zone in use where each write of the provider is of the whole zone
  --only words        runs the checks whose names match, such as 'TXT|MX'
  --clean             only removes what an earlier run left at and below --label
  --out folder        where the report goes: provider-check-<kind>.json and .md`;
const PREFIX = 'zoneward-check-';
const PATIENCE_MS = 300_000;

const root = join(import.meta.dirname, '..');
const say = (text) => process.stdout.write(`${text}\n`);
// a terminal that was closed must not end the clean-up
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
/** What ends the check with words alone. */
class Stop extends Error {}
const fail = (message) => {
  throw new Stop(message);
};
const orFail = (work, words) => work.catch((error) => fail(`${words}: ${error.message}`));

let stopped = null;
let breakOff = () => undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    say(stopped ? 'cleaning up: wait a moment' : `${signal}: the suite is broken off, what it made is removed`);
    stopped ??= signal;
    breakOff();
  });
const goingOn = () => stopped && fail('broken off, nothing was changed');

function readArguments() {
  const flag = { type: 'boolean', default: false };
  const options = {
    ...{ zone: { type: 'string' }, 'make-zone': { type: 'string' }, credentials: { type: 'string' } },
    ...{ label: { type: 'string' }, only: { type: 'string', default: '' }, out: { type: 'string', default: '.' } },
    ...{ write: flag, insecure: flag, apex: flag, 'not-empty': flag, clean: flag, help: flag },
  };
  let parsed;
  try {
    parsed = parseArgs({ options, allowPositionals: true });
  } catch (error) {
    fail(`${error.message}\n${USAGE}`);
  }
  const { values, positionals } = parsed;
  const [kind, zone = values.zone, ...rest] = positionals;
  const making = values['make-zone'];
  if (values.help || !kind || rest.length || !zone === !making) fail(USAGE);
  const label = values.label ?? `${PREFIX}${randomBytes(2).toString('hex')}`;
  // what a clean-up removes is known by its name
  if (!/^zoneward-check-[a-z0-9]([a-z0-9-]{0,23}[a-z0-9])?$/.test(label))
    fail(`--label: ${PREFIX} and more letters, digits and hyphens, 40 characters at most`);
  if (values.clean && !(zone && values.label))
    fail(`--clean needs --zone, and the --label of the run that was broken off: ${PREFIX}…`);
  if (!existsSync(values.out)) fail(`there is no folder ${values.out}`);
  return { ...values, kind, name: zone ?? making, making: Boolean(making), label: values.apex ? '' : label };
}

const built = (file) => import(join(root, 'dist/src', file));

async function account({ kind, ...given }) {
  const { providerOf } = await built('providers/registry.js');
  const definition = providerOf(kind) ?? fail(`there is no provider ${kind}`);
  const { readCredentials } = await built('accounts/credentials.js');
  let fields = credentialsOf(process.env, definition);
  if (given.credentials) {
    try {
      fields = { ...credentialsIn(given.credentials, definition.kind, given.insecure), ...fields };
    } catch (error) {
      fail(`credentials: ${error.message}`);
    }
  }
  let credentials;
  try {
    credentials = readCredentials(definition, fields);
  } catch (error) {
    const names = definition.credentials.map((list) =>
      list.filter((field) => field.required).map(({ key }) => `CHECK_${key.toUpperCase()}`),
    );
    const sets = names.map((list) => list.join(', ')).join(' or ');
    fail(`${error.message}\ncredentials come from --credentials, or set ${sets}`);
  }
  return { definition, credentials };
}

async function connection(definition, credentials) {
  const { connectAdapter, connectProvider } = await built('providers/connect.js');
  const { createLogger } = await built('platform/common/logger.js');
  const { Metrics } = await built('platform/metrics/metrics.js');
  const { outboundAgent } = await built('platform/outbound/agent.js');
  const { Traces } = await built('platform/traces/traces.js');
  const { withinDeadline } = await built('providers/kit/http/deadline-context.js');
  const timeoutMs = 30_000;
  const agent = outboundAgent([], timeoutMs);
  const options = {
    ...{ agent, deny: [], timeoutMs, installation: {} },
    ...{ metrics: new Metrics(), traces: new Traces(), logger: createLogger('silent') },
  };
  const provider = connectProvider(definition, credentials, options);
  // the verb that the service never calls is the adapter's alone
  const adapter = await connectAdapter(definition, credentials, options);
  const patiently = (work) => withinDeadline(performance.now() + PATIENCE_MS, work);
  return { provider, adapter, patiently, close: () => agent.close() };
}

const isNameServer = ({ host, type }) => host === '@' && type === 'NS';

/** The zone that was named, or one that is made, or why it was not; refuses what must not be written to. */
async function zoneFor(provider, { capabilities, label }, given, name) {
  const zones = await orFail(provider.listZones(), 'zones could not be listed');
  const found = zones.find((zone) => zone.name === name && !zone.private);
  if (given.making) {
    if (!capabilities.createZone) fail(`${label}: zones are not made by the adapter; take --zone`);
    if (found) fail(`${name} is there already: take --zone, or another name`);
    goingOn();
    return provider.createZone(name).then(
      (zone) => ({ zone, zones }),
      (problem) => ({ problem, zones }),
    );
  }
  return { zone: found ?? fail(`${name} is none of the ${zones.length} zones of the account`), zones };
}

function assertMayWrite(records, { capabilities }, given, mine) {
  const others = records.filter((record) => !isNameServer(record));
  if (given.apex && others.length)
    fail(`nothing was changed: with --apex the whole zone is tried, and it is not empty`);
  if (!given.apex && records.some(mine))
    fail(`nothing was changed: there are records at or below ${given.label}; take another --label`);
  if (capabilities.replaces === 'zone' && others.length && !given['not-empty'])
    fail(
      'nothing was changed: each write is of the whole zone, which is not empty. Take another one, or say --not-empty',
    );
}

async function runSuite(definition, credentials, zone, { label, only }, clean) {
  const checks = [];
  const suite = startSuite(root, definition.kind, { credentials, zone, label }, only, (result) => {
    const { title, status, duration, failureMessages } = result;
    if (status === 'pending') return;
    const words = status === 'failed' ? { words: wordsOf(failureMessages, clean) } : {};
    checks.push({ name: title, result: status, ms: Math.round(duration ?? 0), ...words });
    say(`${status}: ${title} (${Math.round(duration ?? 0)} ms)`);
  });
  breakOff = suite.stop;
  if (stopped) suite.stop();
  const { code, notTried, errors } = await suite.ended;
  breakOff = () => undefined;
  if (!checks.length && code && !stopped)
    checks.push({ name: 'the suite starts', result: 'failed', ms: 0, words: wordsOf([errors], clean) });
  // a check whose value the provider does not take ends at once, and has proved nothing
  const refused = (name) =>
    notTried.some((line) => line.startsWith(`${name.replace(/ comes back as it was$/, '')}: refused`));
  return { checks: checks.map((one) => (refused(one.name) ? { ...one, result: 'refused' } : one)), notTried };
}

/** Removes what the suite made, and a zone that was made for it; never throws. */
async function tidy({ provider, adapter, patiently }, { zone, before, mine, key, given, failed }) {
  const list = () => patiently(() => provider.listRecords(zone));
  const apply = (changes) => provider.apply(zone, changes, { deadline: performance.now() + PATIENCE_MS });
  const keys = new Set(before.map(key));
  const whole = given.apex;
  const surplus = (found) => found.filter((record) => (whole ? !keys.has(key(record)) : mine(record)));
  const missing = (found) => {
    const held = new Set(found.map(key));
    return whole ? before.filter((record) => !held.has(key(record))) : [];
  };
  try {
    if (given.making && adapter.deleteZone) {
      await patiently(() => adapter.deleteZone(zone));
      const there = await patiently(() => provider.findZone(zone.name));
      return { removed: 0, left: there ? [`the zone ${zone.name}`] : [], others: 'The zone was made for it.' };
    }
    const late = Boolean(stopped) || failed;
    const { removed, left, found } = await cleanUp({ list, apply, surplus, missing, late });
    const held = new Set(found.map(key));
    const outside = (records) => records.filter((record) => !mine(record));
    const differ =
      outside(before).filter((record) => !held.has(key(record))).length +
      outside(found).filter((record) => !keys.has(key(record))).length;
    const others = differ
      ? `Of the other records of the zone ${differ} differ from before: by somebody else's hand, or by a fault.`
      : 'The other records of the zone are as they were.';
    return { removed, left: given.making ? [...left, `the zone ${zone.name}`] : left, others };
  } catch (error) {
    const place = given.making ? `the zone ${zone.name}` : `maybe records at and below ${given.label || '@'}`;
    return { removed: 0, left: [`${place}: ${error.message}`], others: '' };
  }
}

/** The values that must not be shown: all that was given but choices among known words. */
const secretsOf = ({ credentials: alternatives }, credentials) =>
  alternatives
    .flat()
    .filter((field) => field.secret || !field.values)
    .flatMap(({ key, default: usual }) => (credentials[key] && credentials[key] !== usual ? [credentials[key]] : []));

const asZoneName = (zoneName, name) => {
  try {
    return zoneName(name);
  } catch {
    return fail(`${name} is no name of a zone`);
  }
};

/** Reads the zone, and runs the suite in it where that was asked for. @returns null where it was only to be read */
async function tried({ provider }, state, { definition, credentials, clean, zones }) {
  const { zone, given, mine } = state;
  state.before = await orFail(provider.listRecords(zone), 'records could not be read');
  const others = state.before.filter((record) => !isNameServer(record)).length;
  const holds = `${zone.name} holds ${state.before.length} records, ${others} beside its name servers`;
  say(`${definition.label}: ${zones.length} zones; ${holds}`);
  if (given.clean) state.before = state.before.filter((record) => !mine(record));
  else if (!given.write && !given.making) {
    say('Nothing was changed. With --write the contract suite makes, changes and deletes records in this zone.');
    return null;
  } else assertMayWrite(state.before, definition, given, mine);
  goingOn();
  state.ready = true;
  if (given.clean) return { checks: [] };
  say(given.apex ? 'The whole zone is tried.' : `Everything is written at and below ${given.label}.`);
  const suite = await runSuite(definition, credentials, zone, given, clean);
  state.failed = suite.checks.some(({ result }) => result === 'failed');
  return suite;
}

const named = ({ left }, hide) => {
  for (const one of left) say(hide(`left behind: ${one}`));
};

/** What is left of the run is taken away, and named where that is not possible. */
async function tidied(link, { given, zone, ...state }, hide) {
  if (!state.ready && !given.making) return null;
  const cleanup = await tidy(link, { given, zone, ...state });
  named(cleanup, hide);
  if (cleanup.left.length && !given.apex && !given.making)
    say(`try again: npm run provider:check -- ${given.kind} --zone ${zone.name} --clean --label ${given.label}`);
  return cleanup;
}

/** A zone that was not there before and whose making failed is removed, or named. @returns null where there is none */
async function lostZone({ provider, adapter, patiently }, name, { problem, zones }) {
  const look = () => patiently(() => provider.findZone(name));
  const left = (...words) => ({ removed: 0, left: words, others: 'The zone was to be made for it.' });
  let place = `maybe the zone ${name}`;
  try {
    const there = await look();
    if (!there || zones.some(({ id }) => id === there.id))
      return problem.late ? left(`${place}: it may still be made`) : null;
    place = `the zone ${name}`;
    // a zone that the provider refused to make may be somebody else's
    if (!problem.mayHaveApplied || !adapter.deleteZone) return left(place);
    await patiently(() => adapter.deleteZone(there));
    return (await look()) ? left(place) : left();
  } catch (error) {
    return left(`${place}: ${error.message}`);
  }
}

/** The end of a run whose zone could not be made. @returns the exit code */
async function notMade(link, { definition, given, name, begin }, found, hide) {
  const words = `the zone could not be made: ${found.problem.message}`;
  const cleanup = await lostZone(link, name, found);
  if (!cleanup) fail(words);
  say(hide(words));
  named(cleanup, hide);
  if (!cleanup.left.length) say(`the zone ${name} was there all the same, and was removed`);
  const clean = anonymous(hide, { root, zone: { name }, label: given.label });
  const checks = [{ name: 'the zone is made', result: 'failed', ms: 0, words: clean(found.problem.message) }];
  return reported(definition, given, { checks, notTried: [] }, cleanup, begin, clean);
}

/** @returns the exit code */
function reported(definition, given, suite, cleanup, begin, clean) {
  const count = (status) => suite.checks.filter(({ result }) => result === status).length;
  const counts = { passed: count('passed'), failed: count('failed'), refused: count('refused') };
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const report = {
    ...{ kind: definition.kind, label: definition.label, version, node: process.version },
    date: new Date().toISOString(),
    where: `${given.apex ? 'the whole zone' : 'under one label'}${given.only && `, only ${given.only}`}`,
    ended: stopped ? `It was broken off by ${stopped}.` : 'It ran to its end.',
    ...{ ms: Math.round(performance.now() - begin), counts, ...suite, cleanup },
  };
  const file = writeReport(resolve(given.out), report, clean);
  say(`${counts.passed} passed, ${counts.failed} failed, ${counts.refused} refused: ${file}`);
  if (stopped) return 130;
  return counts.failed || cleanup.left.length ? 1 : 0;
}

async function main() {
  const given = readArguments();
  const build = spawnSync(process.execPath, ['scripts/build-when-needed.mjs'], { cwd: root, stdio: 'inherit' });
  if (build.status !== 0) fail('the build failed');
  const { definition, credentials } = await account(given);
  const { recordKey } = await built('dns/record.js');
  const { zoneName } = await built('dns/names.js');
  const key = (record) => `${record.ttl} ${record.enabled} ${recordKey(record)}`;
  const hide = hiding(secretsOf(definition, credentials));
  const link = await orFail(connection(definition, credentials), 'the credentials were not taken');
  const { provider } = link;
  const begin = performance.now();
  try {
    const name = asZoneName(zoneName, given.name);
    await orFail(provider.check(), 'the credentials were not taken');
    const found = await zoneFor(provider, definition, given, name);
    const { zone, zones } = found;
    if (!zone) return await notMade(link, { definition, given, name, begin }, found, hide);
    const mine = ({ host }) => given.apex || host === given.label || host.endsWith(`.${given.label}`);
    const state = { zone, before: [], mine, key, given, failed: true, ready: false };
    const clean = anonymous(hide, { root, zone, label: given.label });
    const ended = await tried(link, state, { definition, credentials, clean, zones }).then(
      (suite) => ({ suite }),
      (problem) => ({ problem }),
    );
    const cleanup = await tidied(link, state, hide);
    if (ended.problem) throw ended.problem;
    if (!ended.suite) return 0;
    if (!given.clean) return reported(definition, given, ended.suite, cleanup, begin, clean);
    say(`${cleanup.removed} records were removed`);
    return cleanup.left.length ? 1 : 0;
  } finally {
    await link.close();
  }
}

process.exitCode = await main().catch((error) => {
  process.stderr.write(`${error instanceof Stop ? error.message : `a defect of the check: ${error.message}`}\n`);
  return 1;
});
