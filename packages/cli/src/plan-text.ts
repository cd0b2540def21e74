import { createHash } from 'node:crypto';
import type { Schemas } from '@zoneward/client';
import { EXIT } from './exits.js';
import { type Colour, harmless, painted, print, printJson } from './output.js';
import type { Session } from './session.js';

type Plan = Schemas['PlanView'];
type Change = Schemas['PlanChangeView'];
type Changed = Schemas['ChangedRecordView'];

/** A record in one text, as people write its data. */
export const dataOf = ({ priority, value }: { priority: number | null; value: string }): string =>
  priority === null ? value : `${priority} ${value}`;

/**
 * A hash over the content of all changes of a plan, the same for two plans that change the same. What has no meaning
 * beyond one plan (ids, times) is no part of it.
 * @returns null if the plan has changes that the caller may not read
 */
export function digestOf({ domain, changes, hidden }: Plan): string | null {
  if (hidden) return null;
  const fields = (one: Changed | null) =>
    one && [
      one.value,
      one.ttl,
      one.priority,
      one.weight,
      one.line,
      one.proxied,
      one.enabled,
      one.remark,
      one.expires_at,
    ];
  const texts = changes.map(({ op, host, type, before, after }) =>
    JSON.stringify([op, host, type, fields(before), fields(after)]),
  );
  return createHash('sha256')
    .update(JSON.stringify([domain, texts.sort()]))
    .digest('hex');
}

const SIGNS = { create: '+', update: '~', delete: '-' } as const;
const COLOURS: Record<Change['op'], Colour> = { create: 'green', update: 'yellow', delete: 'red' };

const recordText = (one: Changed): string =>
  harmless(`${one.ttl} ${dataOf(one)}${one.enabled ? '' : ' (disabled)'}${one.proxied ? ' (proxied)' : ''}`);

function changeLine({ id, op, host, type, before, after, allowed, reason }: Change): string {
  const name = `${harmless(host)} ${type}`;
  const texts = [before, after].map((one) => one && recordText(one));
  const what = texts.filter((text, i) => text !== null && (i === 0 || text !== texts[0])).join(' → ');
  const refused = allowed ? '' : `  (not allowed${reason ? `: ${harmless(reason)}` : ''})`;
  return `${painted(COLOURS[op], `${SIGNS[op]} ${name} ${what}`)}${painted('dim', `  [${id}]`)}${refused}`;
}

/** The plan for people. */
export function planText(plan: Plan): string {
  const { create, update, delete: remove, unchanged } = plan.summary;
  const counts = `${create} to add, ${update} to change, ${remove} to remove, ${unchanged} as they are`;
  const lines = plan.changes.map(changeLine);
  if (plan.hidden) lines.push(`and ${plan.hidden} of records that you may not read`);
  for (const { key, text, mode } of plan.guards) lines.push(painted('yellow', `! ${key} (${mode}): ${harmless(text)}`));
  for (const text of plan.warnings) lines.push(painted('yellow', `! ${harmless(text)}`));
  for (const { path, msg } of plan.failures ?? []) lines.push(painted('red', `! ${harmless(`${path}: ${msg}`)}`));
  return [`${painted('bold', harmless(plan.domain))}: ${counts}`, ...lines].join('\n');
}

/** Whether there is anything to do, or to read. */
export const isEmpty = ({ changes, hidden, failures = [] }: Plan): boolean =>
  !changes.length && !hidden && !failures.length;

/** Shows a plan. @returns the exit code: whether it changes anything */
export function printPlan({ json }: Session, plan: Plan): number {
  if (json) printJson({ ...plan, digest: digestOf(plan) });
  else print(planText(plan));
  return isEmpty(plan) ? EXIT.done : EXIT.differences;
}
