import { type Answer, type Outcome, type Schemas, Unreachable, ZonewardError } from '@zoneward/client';
import { EXIT } from './exits.js';
import { exitOfAll, exitOfCode, Failure, notMade, wordsOf } from './failures.js';
import { harmless, painted, print, printJson, say, table } from './output.js';
import { type Session, signal } from './session.js';

/** Tells what the name servers show. @returns the exit code */
export function published({ json }: Session, report: Schemas['PropagationView']): number {
  if (json) printJson(report);
  else {
    const rows = report.servers.map((one) => [one.role, one.name, one.address, one.status]);
    print(table(['ROLE', 'SERVER', 'ADDRESS', 'STATUS'], rows));
    say(
      report.verdict === 'published' ? 'published' : painted('yellow', `not published everywhere: ${report.verdict}`),
    );
  }
  return report.verdict === 'published' ? EXIT.done : EXIT.differences;
}

const ENDED_DOMAIN: Record<string, number> = {
  applied: EXIT.done,
  waiting: EXIT.waiting,
  stale: EXIT.conflict,
  refused: EXIT.refused,
  failed: EXIT.unreachable,
};
const WORST = [EXIT.other, EXIT.unreachable, EXIT.refused, EXIT.conflict, EXIT.waiting];

/** Tells what became of a plan over many domains, and waits for the lists that go on. @returns the exit code */
export async function tellMany(session: Session, many: Schemas['PlanGroupView']): Promise<number> {
  if (session.json) printJson(many);
  const exits: number[] = [];
  for (const { domain, domain_id, state, change_set_id: id, code, msg, data } of many.domains ?? []) {
    say(harmless(`${domain}: ${state}${msg ? `: ${msg}` : ''}`));
    if (state === 'running' && id !== null)
      exits.push(await follow({ ...session, json: false }, String(domain_id), id));
    else if (state === 'failed' && code !== undefined) exits.push(failedBy(code, data));
    else exits.push(ENDED_DOMAIN[state] ?? EXIT.other);
  }
  for (const { domain, code, msg } of many.failed) {
    say(harmless(`${domain}: no plan was made: ${msg}`));
    exits.push(failedBy(code));
  }
  return WORST.find((exit) => exits.includes(exit)) ?? EXIT.done;
}

/** Of a provider that failed: 500002. */
const failedBy = (code: number, data?: object): number =>
  code === 500002 ? EXIT.unreachable : exitOfCode(code, data as Record<string, unknown> | undefined);

function tellDone(session: Session, zone: string, state: string, result: unknown, done: string): number {
  if (session.json) printJson(result);
  const { outcomes, change_set_id: id } = (result ?? {}) as Partial<Schemas['BatchResult']>;
  const failed = notMade(outcomes);
  for (const { code, msg } of failed) say(`not made: ${harmless(msg ?? '')} (${code})`);
  if (!session.json && state === 'done')
    say(id ? `${done}; taken back by: zoneward undo ${harmless(zone)} ${id}` : done);
  if (state === 'done') return EXIT.done;
  return exitOfAll(failed);
}

/** Of what goes on, and is seen no more: that is no failure of it. @param what goes on */
export const unseen =
  (what: string) =>
  (error: unknown): never => {
    if (!(error instanceof ZonewardError || error instanceof Unreachable)) throw error;
    throw new Failure(`${wordsOf(error)}\n  ${what} goes on, unseen: zoneward history`, EXIT.unreachable);
  };

async function follow(session: Session, zone: string, id: number): Promise<number> {
  say(`it goes on as the change set ${id}; Ctrl-C leaves it alone`);
  const set = await session.zoneward.waitForChanges(zone, id, { signal }).catch(unseen(`the change set ${id}`));
  if (session.json) printJson(set);
  const { applied, failed, unknown, not_tried } = set.counts;
  say(`${applied} applied, ${failed} failed, ${unknown} unknown, ${not_tried} not tried`);
  if (set.state !== 'done' && set.hold_reason !== null) {
    say(harmless(`the rest is held: ${set.hold_reason}`));
    return EXIT.refused;
  }
  if (set.state !== 'done' && set.paused_until !== null) {
    say(`it pauses until ${set.paused_until}, and goes on by itself: zoneward history shows how far it is`);
    return EXIT.refused;
  }
  if (!failed && !not_tried) return EXIT.done;
  return exitOfAll(set.changes.flatMap(({ error }) => error ?? []));
}

/** Record sets of one apply that are looked at. */
const MOST_SETS = 50;

/** Waits until what a change set wrote is published. @param seconds in all @returns the exit code */
async function untilPublished(session: Session, zone: string, id: number | null, seconds: number): Promise<number> {
  try {
    if (id !== null && (await allPublished(session, zone, id, Date.now() + seconds * 1000))) {
      say('published');
      return EXIT.done;
    }
  } catch (error) {
    // the change is made: it must not look as if it had failed
    if (!(error instanceof ZonewardError || error instanceof Unreachable)) throw error;
    say(harmless(error.message));
  }
  say('it is made, and not known to be published: zoneward wait <zone> <host> <type>');
  return EXIT.differences;
}

/** @param end ms since 1970 @returns whether all record sets of a change set are published */
async function allPublished({ zoneward }: Session, zone: string, id: number, end: number): Promise<boolean> {
  const path = { domain_id: zone };
  const { changes } = await zoneward.get('/api/domains/{domain_id}/changes/{changeSetId}', {
    path: { ...path, changeSetId: id },
    signal,
  });
  const named = changes.flatMap(({ before, after }) => after ?? before ?? []);
  const sets = [...new Map(named.map(({ host, type }) => [`${host} ${type}`, { host, type }]))];
  if (sets.length > MOST_SETS) say(`only ${MOST_SETS} of ${sets.length} record sets are looked at`);
  let all = sets.length > 0 && sets.length <= MOST_SETS;
  for (const [name, query] of sets.slice(0, MOST_SETS)) {
    const { list } = await zoneward.get('/api/domains/{domain_id}/records', { path, query, signal });
    const record = list.find(({ enabled }) => enabled);
    const left = Math.max(1, Math.ceil((end - Date.now()) / 1000));
    const report = record && (await zoneward.waitUntilPublished(zone, record.id, left, { signal }));
    if (report?.verdict === 'published') continue;
    all = false;
    say(
      harmless(`${name}: ${report ? `not published everywhere: ${report.verdict}` : 'it is gone, and not looked at'}`),
    );
  }
  return all;
}

/**
 * Tells what an outcome is, and waits where it goes on.
 * @param publish seconds to wait until name servers show it; left out: nobody asked for that
 * @returns the exit code
 */
export async function settle(
  session: Session,
  zone: string,
  outcome: Outcome,
  done: string,
  publish?: number,
): Promise<number> {
  let exit: number;
  let id: number | null;
  switch (outcome.state) {
    case 'waiting':
      if (session.json) printJson(outcome.plan);
      say(`it waits for an approval, as the plan ${outcome.plan.id}`);
      return EXIT.waiting;
    case 'unpublished':
      return published(session, outcome.report);
    case 'applying':
      throw new TypeError('what became of a plan over many domains is told by tellMany');
    case 'running':
      id = outcome.changeSetId;
      exit = await follow(session, zone, id);
      break;
    default:
      id = (outcome.result as Partial<Schemas['BatchResult']> | null)?.change_set_id ?? null;
      exit = tellDone(session, zone, outcome.state, outcome.result, done);
      if (outcome.published) return exit;
  }
  return publish === undefined || exit !== EXIT.done ? exit : untilPublished(session, zone, id, publish);
}

/** Tells what became of a write, and waits where it goes on. @returns the exit code */
export function finish(
  session: Session,
  zone: string,
  answer: Answer<unknown>,
  done: string,
  publish?: number,
): Promise<number> {
  const guards = answer.headers.get('warning-guard');
  if (guards) say(painted('yellow', harmless(`! guards that were met: ${guards}`)));
  return settle(session, zone, session.zoneward.outcome(answer), done, publish);
}
