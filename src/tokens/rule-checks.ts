import ipaddr from 'ipaddr.js';
import { errors, fieldError } from '../platform/common/errors.js';
import { compilePattern, costOf, MAX_PROGRAM, type Pattern, unicodeClasses } from '../platform/common/patterns.js';
import { type FieldError } from '../platform/common/words/codes.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import { RULE_LIMITS } from './rules/compiled-rules.js';
import { TARGETS, type TokenRule } from './rules/token-rules.js';

type Add = (path: string, message: FieldText, code: FieldError['code'], params?: FieldError['params']) => void;

/**
 * Refuses rules whose fields are well-formed one by one: when a decision would cost too much, or nothing can match an
 * allow.
 * @param allowed ids that the token is narrowed to; empty: all
 * @throws AppError 400001 naming every such field
 */
export function assertRules(rules: readonly TokenRule[], allowed: readonly number[]): void {
  const found = new Map<string, FieldError>();
  const add: Add = (path, ...rest) => {
    if (!found.has(path)) found.set(path, fieldError(path, ...rest));
  };
  boundLists(rules, add);
  // compiling is expensive: only after the lengths are checked
  if (!found.size && boundSources(rules, add)) compile(rules, add);
  for (const [i, rule] of rules.entries()) contradictions(rule, `rules.${i}`, allowed, add);
  if (found.size) throw errors.validation([...found.values()]);
}

function boundLists(rules: readonly TokenRule[], add: Add): void {
  const { entries, characters } = RULE_LIMITS;
  let count = 0;
  let length = 0;
  for (const [i, { hosts, values }] of rules.entries()) {
    const lists = { hosts, 'values.cidrs': values?.cidrs, 'values.suffixes': values?.suffixes };
    for (const [field, list] of Object.entries(lists)) {
      count += list?.length ?? 0;
      length += list?.join('').length ?? 0;
      if (count <= entries && length <= characters) continue;
      const words = say(
        'the rules of a token hold at most {entries} hosts, networks and suffixes, {characters} characters together',
        { entries, characters },
      );
      add(`rules.${i}.${field}`, words, 'length', { max: count > entries ? entries : characters });
      return;
    }
  }
}

/** @returns whether all patterns may be compiled */
function boundSources(rules: readonly TokenRule[], add: Add): boolean {
  const { patterns, classes, cost } = RULE_LIMITS;
  let length = 0;
  let unicode = 0;
  let sum = 0;
  for (const [path, source] of sources(rules)) {
    length += source.length;
    unicode += unicodeClasses(source);
    sum += costOf(source);
    if (length > patterns || unicode > classes) {
      const words = say('the patterns of a token hold at most {characters} characters and {classes} of \\p together', {
        characters: patterns,
        classes,
      });
      add(path, words, 'length', { max: length > patterns ? patterns : classes });
    } else if (sum > cost) {
      const words = 'is too long to compile, with those before it: write smaller repetitions or ranges';
      add(path, words, 'length', { max: cost });
    } else continue;
    return false;
  }
  return true;
}

function compile(rules: readonly TokenRule[], add: Add): void {
  const { instructions } = RULE_LIMITS;
  let sum = 0;
  for (const [path, source] of sources(rules)) {
    let pattern: Pattern;
    try {
      pattern = compilePattern(source);
    } catch {
      add(path, 'must be a regular expression in RE2 syntax', 'format');
      continue;
    }
    sum += pattern.size;
    if (pattern.size > MAX_PROGRAM)
      add(
        path,
        say('compiles to {steps} steps; {max} are allowed', { steps: pattern.size, max: MAX_PROGRAM }),
        'range',
        {
          max: MAX_PROGRAM,
        },
      );
    else if (sum > instructions) {
      const words = say('the patterns of a token compile to at most {max} steps together', { max: instructions });
      add(path, words, 'range', { max: instructions });
      return;
    }
  }
}

const sources = (rules: readonly TokenRule[]): [path: string, pattern: string][] =>
  rules.flatMap(({ values }, i) => {
    const pattern = values?.text?.pattern;
    return pattern === undefined ? [] : [[`rules.${i}.values.text.pattern`, pattern]];
  });

function contradictions(rule: TokenRule, path: string, allowed: readonly number[], add: Add): void {
  const { ttl, values, types, domains } = rule;
  if (ttl && (ttl.min ?? 0) > (ttl.max ?? Number.POSITIVE_INFINITY))
    add(`${path}.ttl.min`, 'must not be above ttl.max', 'conflict');
  const text = values?.text;
  if (text && (text.min_length ?? 0) > (text.max_length ?? Number.POSITIVE_INFINITY))
    add(`${path}.values.text.min_length`, 'must not be above max_length', 'conflict');
  if (rule.effect !== 'allow') return;
  if (values && !(types ?? ANY_TYPE).some((type) => speaksOf(values, type)))
    add(`${path}.values`, 'speaks of none of the types of this rule, so that it would allow nothing', 'conflict');
  if (domains && allowed.length && !domains.some((id) => allowed.includes(id)))
    add(`${path}.domains`, 'names none of allowed_domains, so that the rule would allow nothing', 'conflict');
}

/** One type of each kind that `values` can match. */
const ANY_TYPE = ['A', 'AAAA', 'CNAME', 'TXT'];

/**
 * Whether some value of this type can match. An AAAA may embed an IPv4 address (mapped, NAT64, 6to4).
 */
function speaksOf({ cidrs, suffixes, text }: NonNullable<TokenRule['values']>, type: string): boolean {
  if (type === 'A')
    return cidrs?.some((cidr) => ipaddr.parse(cidr.trim().split('/')[0] as string).kind() === 'ipv4') ?? false;
  if (type === 'AAAA') return cidrs !== undefined;
  return TARGETS.has(type) ? suffixes !== undefined : type === 'TXT' && text !== undefined;
}
