import { isLiteral, literalHost } from '../platform/common/patterns.js';
import { marks, type SqlValue } from '../platform/database/db.js';
import { compiledOf } from '../tokens/rules/compiled-rules.js';
import { DELEGATING, TARGETS, type TokenRule } from '../tokens/rules/token-rules.js';

/** Comparisons that a statement makes for each record: on SQLite nothing else runs meanwhile. */
const MOST = 8;

/** A condition, with how many comparisons it makes. */
interface Condition {
  sql: string;
  values: SqlValue[];
  cost: number;
}

/** Which records of a domain rules let read, as far as SQL can say it. */
export interface RulesSql {
  where: string;
  values: SqlValue[];
  /** whether this is all of it; else every record that they let read is among these */
  exact: boolean;
  /** whether it is every record of the domain */
  all: boolean;
}

const condition = (sql: string, values: SqlValue[], cost = 1): Condition => ({ sql, values, cost });
const among = (column: string, values: readonly string[], not = '') =>
  condition(`${column} ${not}IN (${marks(values.length)})`, [...values]);

/** What the rules of a token say of reading in one domain. */
export function readableSql(rules: readonly TokenRule[], domainId: number): RulesSql {
  // what cannot be tried is for the judge to say, and not for SQL
  if (compiledOf(rules).some(({ bounded }) => !bounded))
    return { where: '1 = 1', values: [], exact: false, all: false };
  const about = rules.filter(
    ({ domains, actions }) => (!domains || domains.includes(domainId)) && (!actions || actions.includes('read')),
  );
  const all = (effect: TokenRule['effect']) => about.filter((rule) => rule.effect === effect).map(ruleSql);
  const allows = all('allow');
  if (!allows.length) return { where: '1 = 0', values: [], exact: true, all: false };
  const parts: Condition[] = [];
  let cost = 0;
  let exact = true;
  const add = (part: Condition) => {
    if (cost + part.cost > MOST) return false;
    cost += part.cost;
    parts.push(part);
    return true;
  };
  const any = join(
    allows.map((allow) => allow.condition),
    ' OR ',
  );
  exact &&= add(any) && allows.every((allow) => allow.exact);
  // a deny that is only said in part would deny too much
  for (const deny of all('deny'))
    exact &&= deny.exact && add({ ...deny.condition, sql: `NOT (${deny.condition.sql})` });
  const { sql, values } = join(parts, ' AND ');
  return { where: sql, values, exact, all: exact && cost === 0 && parts.length === 1 };
}

/** The same over all domains: exact where no rule names domains; else more than they let read. */
export function readableAnywhereSql(rules: readonly TokenRule[]): RulesSql {
  if (rules.every(({ domains }) => !domains)) return readableSql(rules, 0);
  const allows = rules.flatMap(({ domains: _, ...rule }) => (rule.effect === 'allow' ? [rule] : []));
  return { ...readableSql(allows, 0), exact: false, all: false };
}

/** Whether rules hide some records of a domain; else its stored counts are those of the list. */
export const hides = (rules: readonly TokenRule[] | null, domainId: number): boolean =>
  rules !== null && !readableSql(rules, domainId).all;

function join(list: Condition[], word: ' AND ' | ' OR '): Condition {
  if (!list.length) return condition('1 = 1', [], 0);
  return condition(
    list.map(({ sql }) => `(${sql})`).join(word),
    list.flatMap(({ values }) => values),
    list.reduce((sum, { cost }) => sum + cost, 0),
  );
}

/** The records that a rule may be about; `exact`: it is about all of them. */
function ruleSql({ effect, hosts, types, ttl, values, unless }: TokenRule): { condition: Condition; exact: boolean } {
  if (unless) return { condition: join([], ' AND '), exact: false };
  const parts: Condition[] = [];
  if (types) parts.push(among('type', types));
  else if (hosts && effect === 'allow') parts.push(among('type', [...DELEGATING], 'NOT '));
  if (ttl?.min !== undefined) parts.push(condition('ttl >= ?', [ttl.min]));
  if (ttl?.max !== undefined) parts.push(condition('ttl <= ?', [ttl.max]));
  if (values) parts.push(among('type', spokenOf(values)));
  const where = hosts ? hostsSql(hosts, effect) : condition('1 = 1', [], 0);
  if (where) parts.push(where);
  return { condition: join(parts, ' AND '), exact: where !== null && !values };
}

/** The types that `values` speak of; none is the empty text, so that the list is never empty. */
const spokenOf = ({ cidrs, suffixes, text }: NonNullable<TokenRule['values']>): string[] => {
  const types = [''];
  if (cidrs) types.push('A', 'AAAA');
  if (suffixes) types.push(...TARGETS);
  if (text) types.push('TXT');
  return types;
};

/** Hosts by name, `*.x` and `**.x`; null when there is another glob among them. */
function hostsSql(globs: readonly string[], effect: TokenRule['effect']): Condition | null {
  if (globs.includes('**')) return condition('1 = 1', [], 0);
  const names = globs.filter(isLiteral);
  const parts = names.length ? [among('host', names.map(literalHost))] : [];
  for (const glob of globs.filter((text) => !isLiteral(text))) {
    const [, stars, name] = /^(\*\*?)\.([^*]+)$/.exec(glob) ?? [];
    if (!stars || !name) return null;
    parts.push(belowSql(stars === '**', name, effect));
  }
  return join(parts, ' OR ');
}

/** Hosts below a name; not `deep`: those one label below it. */
function belowSql(deep: boolean, name: string, effect: TokenRule['effect']): Condition {
  const suffix = `%.${name.replace(/_/g, '!_')}`;
  const below = "host LIKE ? ESCAPE '!'";
  if (deep) return condition(below, [suffix]);
  // an allow does not mean the wildcard record
  const wildcard = effect === 'allow' ? [`*.${name}`] : [];
  const sql = `${below} AND host NOT LIKE ? ESCAPE '!'${wildcard.length ? ' AND host <> ?' : ''}`;
  return condition(sql, [suffix, `%.${suffix}`, ...wildcard], 2);
}
