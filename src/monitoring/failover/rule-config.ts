import { isIP } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { creation, type Place } from '../../changes/edits/edit.js';
import type { Cidr } from '../../platform/common/cidr.js';
import { errors, fieldError, InvalidRecord } from '../../platform/common/errors.js';
import { parseTime } from '../../platform/common/validation.js';
import { type FieldError } from '../../platform/common/words/codes.js';
import { say } from '../../platform/common/words/field-text.js';
import { mayConnect } from '../../platform/outbound/guard.js';
import type { Check, RuleConfig } from './checks/decide.js';
import { type CheckInput, type FailoverRuleInput, MAX_TARGETS } from './failover.dto.js';

/** rules that are read before the event loop has a turn */
const TURN = 50;

const PING =
  'ping is not supported: Node.js can open no ICMP socket, and the service starts no other program; use tcp or http';

/** The error of an address that may not be connected to; null: it may. Names are resolved with each check. */
export function unreachable(
  path: string,
  value: string,
  deny: readonly Cidr[],
  allow: readonly Cidr[],
): FieldError | null {
  if (!isIP(value) || mayConnect(value, deny, allow)) return null;
  return fieldError(path, 'is an address that may not be checked: OUTBOUND_ALLOW does not list it', 'conflict');
}

/**
 * Whether a check looks for a text in the answer of an inner address, one that only OUTBOUND_ALLOW lets be reached: the
 * maker of the rule could read the page bit by bit. For names this is decided with each check.
 */
export const readsInside = (
  { primary, backup, check }: Pick<RuleConfig, 'primary' | 'backup' | 'check'>,
  deny: readonly Cidr[],
): boolean =>
  check.expect_body !== null && [...primary, ...backup].some((value) => isIP(value) && !mayConnect(value, deny, []));

/**
 * The rules of a body, complete and canonical.
 * @param reach the error of a value that may not be checked
 * @throws AppError 400001 naming all that is wrong
 */
export async function configsOf(
  place: Place,
  inputs: readonly FailoverRuleInput[],
  reach: (path: string, value: string) => FieldError | null,
): Promise<RuleConfig[]> {
  const targets = inputs.reduce((sum, { primary, backup }) => sum + primary.length + backup.length, 0);
  if (targets > MAX_TARGETS) {
    const words = say('have {count} values, more than the {max} of one domain', { count: targets, max: MAX_TARGETS });
    throw errors.field('rules', words, 'length', { max: MAX_TARGETS });
  }
  const wrong: FieldError[] = [];
  const sets = new Set<string>();
  const configOf = (input: FailoverRuleInput, i: number): RuleConfig => {
    const at = `rules.${i}`;
    let set = { host: input.host, line: input.line || 'default' };
    const side = (name: 'primary' | 'backup') =>
      input[name].map((value, j) => {
        const path = `${at}.${name}.${j}`;
        try {
          const { record } = creation(place, { host: input.host, type: input.type, value, line: set.line });
          set = { host: record.host, line: record.line };
          const barred = reach(path, record.value);
          if (barred) wrong.push(barred);
          return record.value;
        } catch (error) {
          if (!(error instanceof InvalidRecord)) throw error;
          wrong.push(...error.mistakes.map((e) => ({ ...e, path: e.path === 'value' ? path : `${at}.${e.path}` })));
          return value;
        }
      });
    const [primary, backup] = [side('primary'), side('backup')];
    const all = [...primary, ...backup];
    const twice = all.findIndex((value, j) => all.indexOf(value) < j);
    if (twice >= 0) {
      const path = twice < primary.length ? `primary.${twice}` : `backup.${twice - primary.length}`;
      wrong.push(fieldError(`${at}.${path}`, 'is there twice', 'duplicate'));
    }
    const key = `${set.host} ${input.type} ${set.line}`;
    if (sets.has(key)) wrong.push(fieldError(`${at}.host`, 'another rule has this record set', 'duplicate'));
    sets.add(key);
    const check = checkOf(input.check, `${at}.check`, wrong);
    const maintenance = (input.maintenance ?? []).map(({ start_time, end_time }, j) => {
      const [start, end] = [parseTime(start_time) ?? '', parseTime(end_time) ?? ''];
      if (end <= start)
        wrong.push(fieldError(`${at}.maintenance.${j}.end_time`, 'must be later than start_time', 'conflict'));
      return { start_time: start, end_time: end };
    });
    return {
      ...set,
      type: input.type,
      primary,
      backup,
      check,
      auto_switch_back: input.auto_switch_back ?? true,
      notify: input.notify ?? true,
      max_switches_per_hour: input.max_switches_per_hour ?? 6,
      maintenance,
    };
  };
  const configs: RuleConfig[] = [];
  for (const [i, input] of inputs.entries()) {
    if (i % TURN === TURN - 1) await nextTurn();
    configs.push(configOf(input, i));
  }
  if (wrong.length) throw errors.validation([...new Map(wrong.map((e) => [e.path, e])).values()]);
  return configs;
}

const USUAL_PORTS: Partial<Record<CheckInput['kind'], number>> = { http: 80, https: 443 };

/** Fields that are not for checks of this kind. */
function misplaced(input: CheckInput, at: string): FieldError[] {
  const { kind } = input;
  const http = kind === 'http' || kind === 'https';
  const given = (['path', 'expect_status', 'expect_body'] as const).filter((field) => (input[field] ?? null) !== null);
  const wrong = http
    ? []
    : given.map((field) => fieldError(`${at}.${field}`, 'is for http and https only', 'conflict'));
  if (kind !== 'https' && input.verify_tls) wrong.push(fieldError(`${at}.verify_tls`, 'is for https only', 'conflict'));
  return wrong;
}

function checkOf(input: CheckInput, at: string, wrong: FieldError[]): Check {
  const { kind, expect_status = null, expect_body = null } = input;
  const http = kind === 'http' || kind === 'https';
  if (kind === 'ping') wrong.push(fieldError(`${at}.kind`, PING, 'unsupported'));
  const port = input.port ?? USUAL_PORTS[kind] ?? null;
  if (port === null && kind === 'tcp') wrong.push(fieldError(`${at}.port`, 'is required for tcp', 'required'));
  wrong.push(...misplaced(input, at));
  const interval_s = input.interval_s ?? 30;
  const timeout_s = input.timeout_s ?? Math.min(5, interval_s);
  if (timeout_s > interval_s)
    wrong.push(fieldError(`${at}.timeout_s`, 'must not be longer than interval_s', 'conflict', { max: interval_s }));
  return {
    kind: kind as Check['kind'],
    port: port ?? 0,
    path: http ? (input.path ?? '/') : null,
    expect_status,
    expect_body,
    interval_s,
    timeout_s,
    fall: input.fall ?? 3,
    rise: input.rise ?? 2,
    verify_tls: input.verify_tls ?? false,
  };
}
