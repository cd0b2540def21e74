import type { Answer, Outcome, Schemas } from '@zoneward/client';
import { EXIT } from './exits.js';
import { exitOfAll, notMade } from './failures.js';
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
};

/** What became of a plan over many domains. @returns the exit code */
export function tellMany({ json }: Session, many: Pick<Schemas['PlanGroupView'], 'domains'>): number {
  const domains = many.domains ?? [];
  if (json) printJson(many);
  else for (const { domain, state, msg } of domains) say(harmless(`${domain}: ${state}${msg ? `: ${msg}` : ''}`));
  const exits = domains.map(({ state }) => ENDED_DOMAIN[state] ?? EXIT.other);
  return [EXIT.other, EXIT.refused, EXIT.conflict, EXIT.waiting].find((exit) => exits.includes(exit)) ?? EXIT.done;
}

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

async function follow(session: Session, zone: string, id: number): Promise<number> {
  say(`it goes on as the change set ${id}; Ctrl-C leaves it alone`);
  const set = await session.zoneward.waitForChanges(zone, id, { signal });
  if (session.json) printJson(set);
  const { applied, failed, unknown, not_tried } = set.counts;
  say(`${applied} applied, ${failed} failed, ${unknown} unknown, ${not_tried} not tried`);
  if (!failed && !not_tried) return EXIT.done;
  return exitOfAll(set.changes.flatMap(({ error }) => error ?? []));
}

/** Tells what an outcome is, and waits where it goes on. @returns the exit code */
export async function settle(session: Session, zone: string, outcome: Outcome, done: string): Promise<number> {
  switch (outcome.state) {
    case 'waiting':
      if (session.json) printJson(outcome.plan);
      say(`it waits for an approval, as the plan ${outcome.plan.id}`);
      return EXIT.waiting;
    case 'unpublished':
      return published(session, outcome.report);
    case 'running':
      return follow(session, zone, outcome.changeSetId);
    default:
      return tellDone(session, zone, outcome.state, outcome.result, done);
  }
}

/** Tells what became of a write, and waits where it goes on. @returns the exit code */
export const finish = (session: Session, zone: string, answer: Answer<unknown>, done: string): Promise<number> =>
  settle(session, zone, session.zoneward.outcome(answer), done);
