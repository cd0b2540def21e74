import { readFileSync, writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Outcome, Schemas } from '@zoneward/client';
import { type Command, Option } from 'commander';
import { EXIT } from './exits.js';
import { Failure } from './failures.js';
import { ending, list, secondsOf, type Writing, wholeNumber, writing } from './options.js';
import { settle, tellMany, unseen } from './outcomes.js';
import { harmless, print, printFile, say } from './output.js';
import { digestOf, isEmpty, planText, printPlan } from './plan-text.js';
import { agrees, readStdin, type Session, sessionOf, signal } from './session.js';

type Plan = Schemas['PlanView'];
type Many = Schemas['PlanGroupView'];

const FORMATS: Record<string, Schemas['PlanDocument']['format']> = {
  '.zone': 'zonefile',
  '.db': 'zonefile',
  '.csv': 'csv',
  '.json': 'json',
  '.yaml': 'octodns',
  '.yml': 'octodns',
};

interface Source {
  format?: Schemas['PlanDocument']['format'];
  asOf?: number;
  fromZone?: string;
  drift?: boolean;
  sync?: boolean;
  types?: string[];
  hosts?: string[];
  comment?: string;
}

/** The text of a file: UTF-16 where its byte order mark says so, as in "Unicode text" of Excel, else UTF-8. */
function textOf(bytes: Uint8Array): string {
  const mark = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
  const encoding = mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding, { fatal: true }).decode(bytes);
}

async function documentOf(file: string, format: Source['format']): Promise<Schemas['PlanDocument']> {
  const form = format ?? FORMATS[extname(file).toLowerCase()];
  if (!form) throw new Failure(`what is ${harmless(file)}? name its form: --format zonefile, csv, json or octodns`);
  const bytes = file === '-' ? await readStdin() : readFileSync(file);
  try {
    return { format: form, text: textOf(bytes) };
  } catch {
    throw new Failure(`${harmless(file)} is not in UTF-8: save it as UTF-8`);
  }
}

async function sourceOf(session: Session, file: string | undefined, options: Source): Promise<Schemas['PlanInput']> {
  const { asOf: version, fromZone, drift, format } = options;
  const given = [file, version, fromZone, drift].filter((one) => one !== undefined);
  if (given.length !== 1) throw new Failure('a plan is made of one of: a file, --as-of, --from-zone, --drift');
  if (file !== undefined) return { document: await documentOf(file, format) };
  if (version !== undefined) return { version };
  if (drift) return { drift: true };
  const path = { domain_id: fromZone as string };
  return { from_domain_id: (await session.zoneward.get('/api/domains/{domain_id}', { path, signal })).id };
}

const makePlan = (session: Session, zone: string, body: Schemas['PlanInput']): Promise<Plan> =>
  session.zoneward.post('/api/domains/{domain_id}/plans', { path: { domain_id: zone }, body, signal });

const bounds = ({ sync, types, hosts, comment }: Source): Schemas['PlanInput'] => ({
  ...(sync ? { mode: 'sync' as const } : {}),
  ...(types ? { types } : {}),
  ...(hosts ? { hosts } : {}),
  ...(comment === undefined ? {} : { comment }),
});

/** In Markdown a plan that the service has not stored, since it changes nothing. */
function unstored({ domain, warnings, failures = [] }: Plan): string {
  const words = [...warnings, ...failures.map(({ path, msg }) => `${path}: ${msg}`)];
  const lines = words.map((text) => `- \`${harmless(text).replaceAll('`', "'")}\``);
  return [`\`${domain}\`: no changes.`, ...(lines.length ? ['', ...lines] : [])].join('\n');
}

interface PlanOptions extends Source {
  markdown?: boolean;
  expect?: string;
  digest?: string;
}

async function plan(zone: string, file: string | undefined, options: PlanOptions, command: Command): Promise<number> {
  const session = sessionOf(command);
  const made = await makePlan(session, zone, { ...(await sourceOf(session, file, options)), ...bounds(options) });
  const { id, guards } = made;
  const digest = digestOf(made);
  if (digest === null && (options.digest !== undefined || options.expect !== undefined))
    throw new Failure(
      `no digest covers this plan: ${made.hidden} of its changes are of records that you may not read`,
      EXIT.refused,
    );
  if (options.digest !== undefined) writeFileSync(options.digest, digest as string);
  if (options.markdown && id !== null)
    printFile(await session.zoneward.text('/api/plans/{id}', 'text/markdown', { path: { id }, signal }));
  else if (options.markdown) print(unstored(made));
  else printPlan(session, made);
  if (isEmpty(made)) return EXIT.done;
  if (options.expect !== undefined && digest !== options.expect)
    throw new Failure('it is another plan than the one that is expected: look at it, and decide again', EXIT.conflict);
  const force = guards.filter(({ mode }) => mode === 'force').map(({ key }) => key);
  if (id !== null) say(`to apply it: zoneward apply ${id}${force.length ? ` --force ${force.join()}` : ''}`);
  return EXIT.differences;
}

interface ApplyOptions extends Writing {
  only?: string[];
}

/** Sends that a plan is applied, with all that was said of it. */
function sendApply({ zoneward }: Session, id: number, options: ApplyOptions): Promise<Outcome> {
  const { only, force, comment, override } = options;
  const body = {
    ...(only ? { only: only.map(Number) } : {}),
    ...(force ? { force: force as NonNullable<Schemas['ApplyInput']['force']> } : {}),
    ...(comment === undefined ? {} : { comment }),
  };
  return zoneward.apply(id, body, { signal, ...(override === undefined ? {} : { override }) });
}

const applyPlan = async (session: Session, id: number, zone: string, options: ApplyOptions): Promise<number> =>
  settle(session, zone, await sendApply(session, id, options), 'applied', secondsOf(options));

async function apply(id: number, options: ApplyOptions, command: Command): Promise<number> {
  const session = sessionOf(command);
  const seen = (await session.zoneward.get('/api/plans/{id}', { path: { id }, signal })) as Plan | Many;
  if (!('plans' in seen)) return applyPlan(session, id, seen.domain, options);
  if (options.publish !== undefined) throw new Failure('--publish does not go with a plan over many domains');
  await sendApply(session, id, options);
  return tellMany(session, await session.zoneward.waitForPlan(id, { signal }).catch(unseen(`the plan ${id}`)));
}

/** Shows a plan, asks whether it is meant, and applies that very plan. */
async function showAndApply(
  session: Session,
  zone: string,
  made: Plan,
  options: ApplyOptions & { yes?: boolean },
): Promise<number> {
  if (!session.json) print(planText(made));
  else if (!options.yes || made.id === null) printPlan(session, made);
  if (made.id === null) return isEmpty(made) ? EXIT.done : EXIT.differences;
  if (options.yes || (await agrees('Apply this?'))) return applyPlan(session, made.id, zone, options);
  say(`nothing was done; to apply it: zoneward apply ${made.id}`);
  return EXIT.differences;
}

async function importFile(
  zone: string,
  file: string,
  options: Source & ApplyOptions & { yes?: boolean },
  command: Command,
) {
  const session = sessionOf(command);
  const made = await makePlan(session, zone, { document: await documentOf(file, options.format), ...bounds(options) });
  return showAndApply(session, zone, made, options);
}

async function undo(zone: string, changeSet: number, options: ApplyOptions & { yes?: boolean }, command: Command) {
  const session = sessionOf(command);
  return showAndApply(session, zone, await makePlan(session, zone, { change_set_id: changeSet }), options);
}

const format = () =>
  new Option('--format <format>', 'of the file; left out: by its name').choices(['zonefile', 'csv', 'json', 'octodns']);
const bounded = (command: Command): Command =>
  command
    .addOption(format())
    .option('--sync', 'also remove what is not named')
    .option('--types <types>', 'touch only records of these types, with commas between', list)
    .option('--hosts <globs>', 'touch only records of these hosts, with commas between', list)
    .option('--comment <text>', 'why, for the history');

export function planCommands(program: Command): void {
  bounded(program.command('plan <zone> [file]'))
    .description('show what would have to be changed, and change nothing; exit 2 where there is something')
    .option('--as-of <version>', 'lead back to a version of the zone', wholeNumber)
    .option('--from-zone <zone>', 'lead to the records of another zone')
    .option('--drift', 'take back what was changed at the provider')
    .option('--markdown', 'as a pull request shows it')
    .option('--digest <file>', 'write there what tells this plan from others, for --expect')
    .option('--expect <digest>', 'exit 5 where it changes something else than the plan with this digest')
    .action(ending(plan));
  writing(program.command('apply'))
    .argument('<plan>', 'its number', wholeNumber)
    .description('make the changes of a plan exactly as it was shown, or none')
    .option('--only <ids>', 'some of its changes, with commas between', list)
    .option('--comment <text>', 'why, for the history')
    .action(ending(apply));
  writing(bounded(program.command('import <zone> <file>')))
    .description('show what a file changes, and apply it')
    .option('-y, --yes', 'do not ask')
    .action(ending(importFile));
  writing(program.command('undo <zone>'))
    .argument('<change-set>', 'its number, as zoneward history shows it', wholeNumber)
    .description('show what takes a change set back, and apply it')
    .option('-y, --yes', 'do not ask')
    .action(ending(undo));
}
