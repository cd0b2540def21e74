/** What can be done with a record. Enabling and disabling is an update. */
export const ACTIONS = ['read', 'create', 'update', 'delete'] as const;
export type Action = (typeof ACTIONS)[number];

/** One state of a record: all that rules look at. `value` null: not known, as in a question about any value. */
export interface RecordState {
  /** canonical: lower case, A-labels, `@` for the apex */
  host: string;
  type: string;
  value: string | null;
  ttl: number;
}

/** A rule of a token. What is left out matches everything. */
export interface TokenRule {
  effect: 'allow' | 'deny';
  domains?: number[];
  hosts?: string[];
  types?: string[];
  actions?: Action[];
  values?: {
    /** of A and AAAA */
    cidrs?: string[];
    /** of the targets of CNAME, MX, NS, SRV, PTR and ALIAS: the name itself or one below it */
    suffixes?: string[];
    /** of TXT */
    text?: { min_length?: number; max_length?: number; pattern?: string };
  };
  ttl?: { min?: number; max?: number };
}

/** What rules say of one state: allowed or not, and the index of the rule that decided; null: none allows. */
export interface RuleVerdict {
  allowed: boolean;
  rule: number | null;
  /** index of the first rule that would have cost too much to try: a deny counts as met, an allow as not */
  untried?: number;
}

/** The types whose value `suffixes` look at. */
export const TARGETS: ReadonlySet<string> = new Set(['CNAME', 'MX', 'NS', 'SRV', 'PTR', 'ALIAS']);

/** The types that hand names on to somebody else: an allow that has hosts means them only when it names them. */
export const DELEGATING: ReadonlySet<string> = new Set(['NS', 'DS', 'DNAME']);

/** Whether rules leave anything of a domain to be seen: some rule allows something there. */
export const rulesReach = (rules: readonly TokenRule[], domainId: number): boolean =>
  rules.some((rule) => rule.effect === 'allow' && (!rule.domains || rule.domains.includes(domainId)));
