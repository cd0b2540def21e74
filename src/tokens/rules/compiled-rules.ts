import { addressForms, type Cidr, holds, parseCidr } from '../../platform/common/cidr.js';
import {
  compileGlob,
  compilePattern,
  type HostTest,
  isLiteral,
  literalHost,
  MAX_PATTERN,
  MAX_PROGRAM,
  type Pattern,
  unicodeClasses,
} from '../../platform/common/patterns.js';
import { type Action, DELEGATING, type RecordState, type RuleVerdict, TARGETS, type TokenRule } from './token-rules.js';

/** Limits of all rules of one token, so that evaluating them takes only milliseconds. */
export const RULE_LIMITS = {
  rules: 50,
  /** Hosts, networks and suffixes. */
  entries: 500,
  /** Total characters of these. */
  characters: 5000,
  /** Total characters of patterns. */
  patterns: 1024,
  /** Instructions of compiled patterns. */
  instructions: 2000,
  /** `\p{…}` in patterns, the most expensive part of compiling. */
  classes: 16,
  /** Cost of compiling the patterns (`costOf`): about 50 ms. */
  cost: 20_000,
};

/** Maximum characters × instructions per evaluation: a few milliseconds at worst. */
const STEPS = 100_000;

/** The entries of a rule that count against the limits. */
const entriesOf = ({ hosts = [], values }: TokenRule): string[] =>
  [hosts, values?.cidrs ?? [], values?.suffixes ?? []].flat();

/** A rule compiled for evaluation. */
interface CompiledRule {
  effect: 'allow' | 'deny';
  /** see `TokenRule` */
  scope: string | undefined;
  /** Whether its hosts are within the limits, which older tokens may exceed. */
  bounded: boolean;
  /** null: evaluating it would exceed the limit. */
  covers(domainId: number, action: Action, facts: Facts): boolean | null;
}

/** A record state with derived values shared by several rules, each computed once per evaluation. */
class Facts {
  private steps = STEPS;
  private counted: number | undefined;
  private reached: Cidr[0][] | undefined;
  private parents: string[] | undefined;

  constructor(readonly state: RecordState) {}

  private get value(): string {
    return this.state.value as string;
  }

  /** Characters of the value. */
  get length(): number {
    this.counted ??= [...this.value].length;
    return this.counted;
  }

  /** The address, and the IPv4 address embedded in it. */
  get addresses(): Cidr[0][] {
    this.reached ??= addressForms(this.value);
    return this.reached;
  }

  /** The target and all its parent names. */
  get targets(): string[] {
    if (!this.parents) {
      const { type } = this.state;
      const labels = (type === 'SRV' ? (this.value.split(' ').at(-1) as string) : this.value).toLowerCase().split('.');
      this.parents = labels.map((_, i) => labels.slice(i).join('.'));
    }
    return this.parents;
  }

  /** Whether the value matches; null once the patterns of this evaluation have exceeded the limit. */
  fits(pattern: Pattern): boolean | null {
    this.steps -= pattern.size * this.value.length;
    return this.steps < 0 ? null : pattern.fits(this.value);
  }
}

/**
 * Compiles the rules of one token. Rules beyond the limits, of tokens older than the limits, are not evaluated:
 * `covers` returns null.
 */
function compileRules(rules: readonly TokenRule[]): CompiledRule[] {
  const spent = { characters: 0, patterns: 0, instructions: 0, classes: 0 };
  const spend = (what: keyof typeof spent, by: number) => {
    spent[what] += by;
    return spent[what] <= RULE_LIMITS[what];
  };
  const patternOf = (source: string): Pattern | null => {
    const cheap = spend('patterns', source.length) && spend('classes', unicodeClasses(source));
    const pattern = cheap && source.length <= MAX_PATTERN ? compilePattern(source) : null;
    return pattern && pattern.size <= MAX_PROGRAM && spend('instructions', pattern.size) ? pattern : null;
  };
  return rules.map((rule) => {
    const bounded = spend('characters', entriesOf(rule).join('').length);
    const source = rule.values?.text?.pattern;
    return compileRule(rule, bounded, source === undefined ? undefined : patternOf(source));
  });
}

/**
 * @param bounded whether its hosts are within the limits
 * @param pattern null: one beyond the limits
 */
function compileRule(rule: TokenRule, bounded: boolean, pattern: Pattern | null | undefined): CompiledRule {
  const { effect, values } = rule;
  const domains = rule.domains && new Set(rule.domains);
  const types = rule.types && new Set(rule.types);
  const hosts = rule.hosts && bounded ? hostTest(rule.hosts, effect === 'deny') : null;
  const [shortest, longest] = [rule.ttl?.min ?? 0, rule.ttl?.max ?? Number.POSITIVE_INFINITY];
  const ofType = (type: string) =>
    types ? types.has(type) : !(rule.hosts && effect === 'allow' && DELEGATING.has(type));
  const isAbout = (domainId: number, action: Action, { type, ttl }: RecordState) =>
    (!domains || domains.has(domainId)) &&
    (!rule.actions || rule.actions.includes(action)) &&
    ofType(type) &&
    (!rule.ttl || (ttl >= shortest && ttl <= longest));
  const fits = values && valueTest(values, pattern);
  const unless = rule.unless && compileRules(rule.unless);
  return {
    effect,
    scope: rule.scope,
    bounded,
    covers(domainId, action, facts) {
      const { host, value } = facts.state;
      if (unless) return !unless.some((one) => one.covers(domainId, action, facts));
      if (!isAbout(domainId, action, facts.state)) return false;
      if (rule.hosts && !bounded) return null;
      if (hosts && !hosts(host)) return false;
      // an unknown value may match a deny rule, but never an allow rule
      if (fits && value === null) return effect === 'deny';
      return fits ? fits(facts) : true;
    },
  };
}

/** Tests a value that is known; null once its patterns are beyond the limits. */
function valueTest(
  { cidrs, suffixes, text }: NonNullable<TokenRule['values']>,
  pattern: Pattern | null | undefined,
): (facts: Facts) => boolean | null {
  const networks = cidrs?.map(parseCidr);
  const names = suffixes && new Set(suffixes);
  const { min_length: least = 0, max_length: most = Number.POSITIVE_INFINITY } = text ?? {};
  return (facts) => {
    const { type } = facts.state;
    if (type === 'A' || type === 'AAAA') return networks !== undefined && reaches(facts, networks);
    if (TARGETS.has(type)) return names !== undefined && facts.targets.some((name) => names.has(name));
    if (type !== 'TXT' || !text || facts.length < least || facts.length > most) return false;
    return pattern ? facts.fits(pattern) : pattern === undefined || null;
  };
}

const reaches = (facts: Facts, networks: Cidr[]) => facts.addresses.some((address) => holds(networks, address));

/**
 * Literal names are looked up in a set, globs are tested one by one. In a deny rule `*.dev` also matches the wildcard
 * record.
 */
function hostTest(globs: string[], wildcards: boolean): HostTest {
  const names = new Set(globs.filter(isLiteral).map(literalHost));
  const tests = globs.filter((glob) => !isLiteral(glob)).map((glob) => compileGlob(glob, wildcards));
  return (host) => names.has(host) || tests.some((test) => test(host));
}

/** Number of cached rule lists, and the maximum text length of one. */
const KEPT = 100;
const MAX_KEPT = 65_536;
const parsed = new Map<string, TokenRule[]>();
const compiled = new WeakMap<readonly TokenRule[], CompiledRule[]>();

/**
 * Parses the stored rules of a token. Equal texts return the same list, so that rules are compiled once instead of on
 * every request.
 */
export function rulesFrom(text: string): TokenRule[] {
  const rules = parsed.get(text) ?? (JSON.parse(text) as TokenRule[]);
  if (text.length > MAX_KEPT) return rules;
  parsed.delete(text);
  parsed.set(text, rules);
  if (parsed.size > KEPT) parsed.delete(parsed.keys().next().value as string);
  return rules;
}

/** The compiled rules, cached by list. */
export function compiledOf(rules: readonly TokenRule[]): CompiledRule[] {
  let list = compiled.get(rules);
  if (!list) {
    list = compileRules(rules);
    compiled.set(rules, list);
  }
  return list;
}

/**
 * Deny takes precedence over allow; with rules present, access needs an allow rule. Deny rules that scopes imply are
 * tried last, so that the verdict names a rule of the token itself if one decides.
 */
export function judgeByRules(
  rules: readonly TokenRule[],
  domainId: number,
  action: Action,
  state: RecordState,
): RuleVerdict {
  const list = compiledOf(rules);
  const facts = new Facts(state);
  let untried: number | undefined;
  const find = (effect: TokenRule['effect'], isImplied = false) =>
    list.findIndex((rule, i) => {
      if (rule.effect !== effect || (effect === 'deny' && (rule.scope !== undefined) !== isImplied)) return false;
      const covered = rule.covers(domainId, action, facts);
      if (covered === null) untried ??= i;
      return covered ?? effect === 'deny';
    });
  const denied = find('deny');
  const allowing = denied >= 0 ? -1 : find('allow');
  const beyond = allowing >= 0 && find('deny', true) >= 0;
  const rule = denied >= 0 ? denied : allowing;
  const allImplied = list.length > 0 && list.every(({ scope }) => scope !== undefined);
  const scope = beyond ? '' : allImplied ? (list[rule]?.scope ?? '') : undefined;
  return {
    allowed: allowing >= 0 && !beyond,
    rule: rule < 0 || scope !== undefined ? null : rule,
    ...(untried === undefined ? {} : { untried }),
    ...(scope === undefined ? {} : { scope }),
  };
}
