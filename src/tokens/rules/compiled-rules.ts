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

/** What the rules of one token may hold together, so that a decision costs milliseconds whoever wrote them. */
export const RULE_LIMITS = {
  rules: 50,
  /** hosts, networks and suffixes */
  entries: 500,
  /** characters of these */
  characters: 5000,
  /** characters of patterns */
  patterns: 1024,
  /** instructions of compiled patterns */
  instructions: 2000,
  /** `\p{…}` in patterns: what compiling costs most */
  classes: 16,
  /** what compiling the patterns costs (`costOf`): some 50 ms */
  cost: 20_000,
};

/** Characters × instructions that one decision may try: a few milliseconds at worst. */
const STEPS = 100_000;

/** What the parts of a rule count against the limits. */
const entriesOf = ({ hosts = [], values }: TokenRule): string[] => [
  ...hosts,
  ...(values?.cidrs ?? []),
  ...(values?.suffixes ?? []),
];

/** A rule, ready to be asked. */
interface CompiledRule {
  effect: 'allow' | 'deny';
  /** whether its hosts can be tried at all: not those of tokens from before there were limits */
  bounded: boolean;
  /** null: what would tell costs more than a decision may */
  covers(domainId: number, action: Action, facts: Facts): boolean | null;
}

/** A state of a record with what several rules want to know of it, found out once a decision. */
class Facts {
  private steps = STEPS;
  private counted: number | undefined;
  private reached: Cidr[0][] | undefined;
  private parents: string[] | undefined;

  constructor(readonly state: RecordState) {}

  private get value(): string {
    return this.state.value as string;
  }

  /** characters of the value */
  get length(): number {
    this.counted ??= [...this.value].length;
    return this.counted;
  }

  /** the address, and the IPv4 address that is inside of it */
  get addresses(): Cidr[0][] {
    this.reached ??= addressForms(this.value);
    return this.reached;
  }

  /** the target and all names above it */
  get targets(): string[] {
    if (!this.parents) {
      const { type } = this.state;
      const labels = (type === 'SRV' ? (this.value.split(' ').at(-1) as string) : this.value).toLowerCase().split('.');
      this.parents = labels.map((_, i) => labels.slice(i).join('.'));
    }
    return this.parents;
  }

  /** Whether the value fits; null once the patterns of this decision have cost too much. */
  fits(pattern: Pattern): boolean | null {
    this.steps -= pattern.size * this.value.length;
    return this.steps < 0 ? null : pattern.fits(this.value);
  }
}

/**
 * Compiles the rules of one token. What goes beyond the limits, of tokens made before there were any, can no longer be
 * told: `covers` is null there.
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
    const { effect, ttl, values } = rule;
    const bounded = spend('characters', entriesOf(rule).join('').length);
    const domains = rule.domains && new Set(rule.domains);
    const types = rule.types && new Set(rule.types);
    const hosts = rule.hosts && bounded ? hostTest(rule.hosts, effect === 'deny') : null;
    const source = values?.text?.pattern;
    const pattern = source === undefined ? undefined : patternOf(source);
    const networks = values?.cidrs?.map(parseCidr);
    const suffixes = values?.suffixes && new Set(values.suffixes);
    return {
      effect,
      bounded,
      covers(domainId, action, facts) {
        const { host, type, value, ttl: seconds } = facts.state;
        if (domains && !domains.has(domainId)) return false;
        if (rule.actions && !rule.actions.includes(action)) return false;
        if (types ? !types.has(type) : rule.hosts && effect === 'allow' && DELEGATING.has(type)) return false;
        if (ttl && (seconds < (ttl.min ?? 1) || seconds > (ttl.max ?? Number.POSITIVE_INFINITY))) return false;
        if (rule.hosts && !bounded) return null;
        if (hosts && !hosts(host)) return false;
        if (!values) return true;
        // a value that is not known may be one that is denied, and none that is allowed
        if (value === null) return effect === 'deny';
        if (type === 'A' || type === 'AAAA') return networks !== undefined && reaches(facts, networks);
        if (TARGETS.has(type)) return suffixes !== undefined && facts.targets.some((name) => suffixes.has(name));
        if (type !== 'TXT' || !values.text) return false;
        const { min_length: least = 0, max_length: most = Number.POSITIVE_INFINITY } = values.text;
        if (facts.length < least || facts.length > most) return false;
        return pattern ? facts.fits(pattern) : pattern === undefined || null;
      },
    };
  });
}

const reaches = (facts: Facts, networks: Cidr[]) => facts.addresses.some((address) => holds(networks, address));

/** Names in a set, globs one by one. A deny of `*.dev` means the wildcard record, too. */
function hostTest(globs: string[], wildcards: boolean): HostTest {
  const names = new Set(globs.filter(isLiteral).map(literalHost));
  const tests = globs.filter((glob) => !isLiteral(glob)).map((glob) => compileGlob(glob, wildcards));
  return (host) => names.has(host) || tests.some((test) => test(host));
}

/** Lists of rules that are kept, and the longest text of one that is. */
const KEPT = 100;
const MAX_KEPT = 65_536;
const parsed = new Map<string, TokenRule[]>();
const compiled = new WeakMap<readonly TokenRule[], CompiledRule[]>();

/**
 * The rules of a token as stored. The same text gives the same list, so that its rules are compiled once and not with
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

/** Compiled once for each list of rules. */
export function compiledOf(rules: readonly TokenRule[]): CompiledRule[] {
  let list = compiled.get(rules);
  if (!list) {
    list = compileRules(rules);
    compiled.set(rules, list);
  }
  return list;
}

/** Deny beats allow; where rules are present and none allows, the answer is no. */
export function judgeByRules(
  rules: readonly TokenRule[],
  domainId: number,
  action: Action,
  state: RecordState,
): RuleVerdict {
  const list = compiledOf(rules);
  const facts = new Facts(state);
  let untried: number | undefined;
  const find = (effect: TokenRule['effect']) =>
    list.findIndex((rule, i) => {
      if (rule.effect !== effect) return false;
      const covered = rule.covers(domainId, action, facts);
      if (covered === null) untried ??= i;
      return covered ?? effect === 'deny';
    });
  const denied = find('deny');
  const rule = denied >= 0 ? denied : find('allow');
  return {
    allowed: denied < 0 && rule >= 0,
    rule: rule < 0 ? null : rule,
    ...(untried === undefined ? {} : { untried }),
  };
}
