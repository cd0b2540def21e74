/** Actions on a record; enabling and disabling are updates. */
export const ACTIONS = ['read', 'create', 'update', 'delete'] as const;
export type Action = (typeof ACTIONS)[number];

/** The properties of a record that rules test. `value` null: unknown, as in a question about any value. */
export interface RecordState {
  /** Canonical: lower case, A-labels, `@` for the apex. */
  host: string;
  type: string;
  value: string | null;
  ttl: number;
}

/** A rule of a token; omitted conditions match everything. */
export interface TokenRule {
  effect: 'allow' | 'deny';
  domains?: number[];
  hosts?: string[];
  types?: string[];
  actions?: Action[];
  values?: {
    /** For A and AAAA. */
    cidrs?: string[];
    /** For targets of CNAME, MX, NS, SRV, PTR and ALIAS: the name itself or one below it. */
    suffixes?: string[];
    /** For TXT. */
    text?: { min_length?: number; max_length?: number; pattern?: string };
  };
  ttl?: { min?: number; max?: number };
  /** Scope that implies the rule; '' if several do. Rules of the token itself have none. */
  scope?: string;
  /** Of a deny rule that scopes imply: it denies everything that none of these rules allows. */
  unless?: TokenRule[];
}

/** Result of evaluating rules: allowed or not, and the index of the deciding rule; null: no rule allows it. */
export interface RuleVerdict {
  allowed: boolean;
  rule: number | null;
  /** Index of the first rule that was too expensive to evaluate: a deny counts as matched, an allow as not matched. */
  untried?: number;
  /** Set if a rule decided that scopes imply: the scope that allows; '' if none does. */
  scope?: string;
}

/** Whether some of a token's rules are its own and not implied by its scopes. */
export const hasOwnRules = (rules: readonly TokenRule[] | null): boolean =>
  rules?.some(({ scope }) => scope === undefined) ?? false;

/** The types whose value is tested by `suffixes`. */
export const TARGETS: ReadonlySet<string> = new Set(['CNAME', 'MX', 'NS', 'SRV', 'PTR', 'ALIAS']);

/** Types that delegate names to others: an allow rule with hosts covers them only if it lists the type. */
export const DELEGATING: ReadonlySet<string> = new Set(['NS', 'DS', 'DNAME']);

/** Whether the rules allow anything on a domain. */
export const rulesReach = (rules: readonly TokenRule[], domainId: number): boolean =>
  rules.some((rule) => rule.effect === 'allow' && (!rule.domains || rule.domains.includes(domainId)));

/** Whether the rules allow to read every record of a domain, whatever it is. */
export const readsWhole = (rules: readonly TokenRule[] | null, domainId: number): boolean => {
  if (!rules) return true;
  const reading = rules.filter(
    ({ domains, actions }) => (domains?.includes(domainId) ?? true) && (actions?.includes('read') ?? true),
  );
  const isWhole = ({ hosts, types, values, ttl }: TokenRule) => !hosts && !types && !values && !ttl;
  return reading.every(({ effect }) => effect === 'allow') && reading.some(isWhole);
};
