import { type Answer, preferPublished, type Schemas } from '@zoneward/client';
import type { Command } from 'commander';
import { EXIT } from './exits.js';
import { Failure } from './failures.js';
import { ending, PUBLISHED, secondsOf, type Writing, wholeNumber, writing } from './options.js';
import { finish, published } from './outcomes.js';
import { harmless, print, printJson, say, table } from './output.js';
import { dataOf, printPlan } from './plan-text.js';
import { type Session, sessionOf, signal } from './session.js';

type Shown = Pick<Schemas['RecordView'], 'id' | 'host' | 'type' | 'ttl' | 'value' | 'priority' | 'enabled' | 'proxied'>;

const marksOf = ({ enabled, proxied }: Shown): string =>
  [enabled ? '' : 'disabled', proxied ? 'proxied' : ''].filter(Boolean).join();

/** @param zones of each record, where they are of several */
export function recordTable(records: readonly Shown[], zones?: readonly string[]): string {
  const rows = records.map((one, i) => [
    one.id,
    ...(zones ? [zones[i]] : []),
    ...[one.host, one.type, one.ttl, marksOf(one), dataOf(one)],
  ]);
  return table(['ID', ...(zones ? ['ZONE'] : []), 'HOST', 'TYPE', 'TTL', '', 'VALUE'], rows);
}

const dry = (command: Command): Command =>
  writing(command).option('-n, --dry-run', 'show what it would change, and change nothing');

type Force = Schemas['GuardView']['key'];
const queryOf = ({ force, override, dryRun }: Writing) => ({
  ...(force ? { force: force as Force[] } : {}),
  ...(override === undefined ? {} : { override }),
  ...(dryRun ? { dry_run: true } : {}),
});
const headersOf = (options: Writing) => ({ headers: preferPublished(secondsOf(options)), signal });

/** Tells what became of a write. @returns the exit code */
async function wrote(
  session: Session,
  zone: string,
  answer: Answer<unknown>,
  options: Writing,
  done: string,
): Promise<number> {
  if (options.dryRun) return printPlan(session, answer.data as Schemas['PlanView']);
  return finish(session, zone, answer, done, secondsOf(options));
}

const batch = (session: Session, zone: string, changes: Schemas['BatchChange'][], options: Writing) =>
  session.zoneward.call('POST', '/api/domains/{domain_id}/records/batch', {
    path: { domain_id: zone },
    query: { ...queryOf(options), wait: 50 },
    body: { changes, ...(options.comment === undefined ? {} : { comment: options.comment }) },
    ...headersOf(options),
  });

interface RecordOptions extends Writing {
  ttl?: number;
  priority?: number;
  remark?: string;
  expires?: string;
}

async function add(
  zone: string,
  host: string,
  type: string,
  values: string[],
  options: RecordOptions,
  command: Command,
) {
  const session = sessionOf(command);
  const { ttl, priority, remark, expires } = options;
  const more = {
    ...(ttl === undefined ? {} : { ttl }),
    ...(priority === undefined ? {} : { priority }),
    ...(remark === undefined ? {} : { remark }),
    ...(expires === undefined ? {} : { expires_at: expires }),
  };
  const changes = values.map((value) => ({ op: 'create', host, type, value, ...more }) as Schemas['BatchChange']);
  return wrote(session, zone, await batch(session, zone, changes, options), options, 'added');
}

async function set(
  zone: string,
  host: string,
  type: string,
  values: string[],
  options: RecordOptions,
  command: Command,
) {
  const session = sessionOf(command);
  const { ttl, priority } = options;
  const answer = await session.zoneward.call('PUT', '/api/domains/{domain_id}/rrsets/{host}/{type}', {
    path: { domain_id: zone, host, type },
    query: queryOf(options),
    body: {
      values: values.map((value) => (priority === undefined ? value : { value, priority })),
      ...(ttl === undefined ? {} : { ttl }),
    },
    ...headersOf(options),
  });
  return wrote(
    session,
    zone,
    answer,
    options,
    answer.data && 'changed' in answer.data && !answer.data.changed ? 'it was so already' : 'set',
  );
}

async function remove(
  zone: string,
  host: string,
  type: string,
  values: string[],
  options: Writing & { all?: boolean },
  command: Command,
) {
  const session = sessionOf(command);
  const path = { domain_id: zone };
  if (!values.length === !options.all) throw new Failure('name the values that go, or --all for the whole record set');
  if (options.all) {
    const input = { path: { ...path, host, type }, query: queryOf(options), ...headersOf(options) };
    const answer = await session.zoneward.call('DELETE', '/api/domains/{domain_id}/rrsets/{host}/{type}', input);
    return wrote(session, zone, answer, options, 'removed');
  }
  const gone = new Set<number>();
  const missing: string[] = [];
  for (const value of values) {
    // the service knows each spelling of a value
    const query = { host, type, value };
    const { list } = await session.zoneward.get('/api/domains/{domain_id}/records', { path, query, signal });
    for (const { id } of list) gone.add(id);
    if (!list.length) missing.push(value);
  }
  for (const value of missing) say(harmless(`there is no such record: ${host} ${type} ${value}`));
  if (!gone.size) {
    if (session.json) printJson(null);
    return EXIT.done;
  }
  const changes = [...gone].map((id) => ({ op: 'delete', record_id: id }) as Schemas['BatchChange']);
  return wrote(session, zone, await batch(session, zone, changes, options), options, 'removed');
}

async function show(zone: string, options: Record<string, string | boolean | undefined>, command: Command) {
  const { zoneward, json } = sessionOf(command);
  const { host, type, value, keyword, refresh } = options;
  const asked = { host, type, value, keyword, ...(refresh ? { refresh: true } : {}) };
  const query = Object.fromEntries(Object.entries(asked).filter(([, one]) => one !== undefined));
  const input = { path: { domain_id: zone }, signal };
  // read anew once, then page by page
  if (refresh)
    await zoneward.get('/api/domains/{domain_id}/records', { ...input, query: { refresh: true, page: 1, limit: 1 } });
  const { refresh: _, ...filters } = query;
  const records = [];
  for await (const one of zoneward.all('/api/domains/{domain_id}/records', { ...input, query: filters }))
    records.push(one);
  if (json) printJson(records);
  else print(recordTable(records));
  return EXIT.done;
}

/** Waits until a record set is published. @returns the exit code */
export async function waitFor(
  zone: string,
  host: string,
  type: string,
  options: { timeout: number },
  command: Command,
) {
  const session = sessionOf(command);
  const { list: found } = await session.zoneward.get('/api/domains/{domain_id}/records', {
    path: { domain_id: zone },
    query: { host, type },
    signal,
  });
  const record = found.find(({ enabled }) => enabled);
  if (!record) throw new Failure(`there is no ${type} record of ${host} that is in DNS`);
  return published(session, await session.zoneward.waitUntilPublished(zone, record.id, options.timeout, { signal }));
}

export function recordCommands(program: Command): void {
  const records = program.command('records').description('records of a zone');
  records
    .command('list <zone>', { isDefault: true })
    .description('records, as the service has them')
    .option('--host <host>', '@ for the root')
    .option('--type <types>', 'with commas between')
    .option('--value <value>', 'the whole value')
    .option('--keyword <text>', 'a part of a name or value')
    .option('--refresh', 'read the zone at the provider first')
    .action(ending(show));
  const withFields = (command: Command) =>
    dry(command)
      .option('--ttl <seconds>', 'time to live', wholeNumber)
      .option('--priority <number>', 'of MX and SRV', wholeNumber);
  withFields(records.command('add <zone> <host> <type> <values...>'))
    .description('add records beside those that are there')
    .option('--remark <text>', 'free text')
    .option('--expires <time>', 'when they are deleted again, ISO 8601')
    .option('--comment <text>', 'why, for the history')
    .action(ending(add));
  withFields(records.command('set <zone> <host> <type> <values...>'))
    .description('make these the values of the record set: others go')
    .action(ending(set));
  dry(records.command('rm <zone> <host> <type> [values...]'))
    .description('remove these values, or with --all the whole record set')
    .option('--all', 'the whole record set')
    .option('--comment <text>', 'why, for the history; with values')
    .action(ending(remove));
  program
    .command('wait <zone> <host> <type>')
    .description('end when all authoritative name servers show a record set')
    .option('--timeout <seconds>', 'at most', wholeNumber, PUBLISHED)
    .action(ending(waitFor));
}
