import { writeFileSync } from 'node:fs';
import type { Schemas } from '@zoneward/client';
import { type Command, Option } from 'commander';
import { EXIT } from './exits.js';
import { ending, wholeNumber } from './options.js';
import { harmless, print, printFile, printJson, say, table } from './output.js';
import { recordTable } from './records.js';
import { type Session, sessionOf, signal } from './session.js';

async function zones(options: { keyword?: string }, command: Command): Promise<number> {
  const { zoneward, json } = sessionOf(command);
  const found = [];
  for await (const one of zoneward.all('/api/domains', { query: { ...options }, signal })) found.push(one);
  const rows = found.map((one) => [
    one.id,
    one.name,
    one.records_count,
    one.permission,
    one.provider,
    one.account_name,
  ]);
  if (json) printJson(found);
  else print(table(['ID', 'ZONE', 'RECORDS', 'RIGHT', 'PROVIDER', 'ACCOUNT'], rows));
  return EXIT.done;
}

interface SearchOptions {
  host?: string;
  type?: string;
  value?: string;
  zone?: string;
  limit: number;
}

async function search(keyword: string | undefined, options: SearchOptions, command: Command): Promise<number> {
  const { zoneward, json } = sessionOf(command);
  const { zone, limit, ...filters } = options;
  const query = { ...filters, ...(zone ? { domain: zone } : {}), ...(keyword ? { keyword } : {}), page: 1, limit };
  const { total, list } = await zoneward.get('/api/records', { query, signal });
  if (json) printJson({ total, list });
  else
    print(
      recordTable(
        list,
        list.map(({ domain }) => domain),
      ),
    );
  if (total > list.length) say(`${list.length} of ${total}: narrow it, or --limit`);
  return EXIT.done;
}

async function exportZone(zone: string, options: { format: string; out?: string }, command: Command): Promise<number> {
  const { zoneward } = sessionOf(command);
  const query = { format: options.format as 'zonefile' };
  const path = { domain_id: zone };
  const text = await zoneward.text('/api/domains/{domain_id}/export', '*/*', { path, query, signal });
  if (options.out === undefined) printFile(text);
  else writeFileSync(options.out, text);
  return EXIT.done;
}

const actorOf = ({ username, token_name }: Schemas['ChangeActor']): string =>
  [username, token_name && `(${token_name})`].filter(Boolean).join(' ');

async function history(
  zone: string | undefined,
  options: { host?: string; type?: string; limit: number },
  command: Command,
) {
  const { zoneward, json } = sessionOf(command);
  const found = zone
    ? await zoneward.get('/api/domains/{domain_id}/changes', { path: { domain_id: zone }, query: options, signal })
    : await zoneward.get('/api/changes', { query: options, signal });
  if (json) printJson(found);
  else {
    const rows = found.list.map((one) => [
      one.id,
      one.created_at,
      one.domain,
      one.door,
      actorOf(one.actor),
      one.total,
      one.state,
      one.comment,
    ]);
    print(table(['ID', 'AT', 'ZONE', 'BY', 'WHO', 'CHANGES', 'STATE', 'COMMENT'], rows));
  }
  return EXIT.done;
}

async function verifyZone({ zoneward, json }: Session, zone: string): Promise<number> {
  const health = await zoneward.get('/api/domains/{domain_id}/health', { path: { domain_id: zone }, signal });
  if (json) printJson(health);
  else {
    for (const { severity, text } of health.issues) print(harmless(`${severity}: ${text}`));
    say(health.ok ? 'name servers and delegation agree' : 'something is wrong with the zone');
  }
  return health.ok ? EXIT.done : EXIT.differences;
}

async function verifyAudit({ zoneward, json }: Session): Promise<number> {
  const verdict = await zoneward.get('/api/audit/verify', { signal });
  if (json) printJson(verdict);
  else if (verdict.ok) say(`the audit log is whole: ${verdict.entries} entries`);
  else print(harmless(`the audit log is broken at ${verdict.first_bad_seq ?? '?'}: ${verdict.reason ?? ''}`));
  return verdict.ok ? EXIT.done : EXIT.differences;
}

const verify = (zone: string | undefined, _: object, command: Command): Promise<number> =>
  zone ? verifyZone(sessionOf(command), zone) : verifyAudit(sessionOf(command));

export function zoneCommands(program: Command): void {
  program
    .command('zones')
    .description('the zones that you may read')
    .option('--keyword <text>', 'a part of the name')
    .action(ending(zones));
  program
    .command('search [keyword]')
    .description('records of all zones that you may read')
    .option('--host <host>', 'below its zone, @ for the root')
    .option('--type <types>', 'with commas between')
    .option('--value <value>', 'the whole value')
    .option('--zone <zone>', 'of this zone')
    .option('--limit <number>', 'at most', wholeNumber, 100)
    .action(ending(search));
  program
    .command('export <zone>')
    .description('the records of a zone as a file')
    .addOption(
      new Option('--format <format>', 'form of the file')
        .choices(['zonefile', 'csv', 'json', 'octodns', 'dnscontrol', 'terraform'])
        .default('zonefile'),
    )
    .option('-o, --out <file>', 'left out: standard output')
    .action(ending(exportZone));
  program
    .command('history [zone]')
    .description('who changed what, newest first')
    .option('--host <host>', 'of this host')
    .option('--type <type>', 'of this type')
    .option('--limit <number>', 'at most 50', wholeNumber, 20)
    .action(ending(history));
  program
    .command('verify [zone]')
    .description('whether name servers and delegation of a zone agree; without a zone: whether the audit log is whole')
    .action(ending(verify));
}
