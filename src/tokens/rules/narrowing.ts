import { type Cidr, parseCidr } from '../../platform/common/cidr.js';
import { ACTIONS, DELEGATING, type TokenRule } from './token-rules.js';

type Values = NonNullable<TokenRule['values']>;

/** Whether a network lies in one of the others. */
export function inNetworks(text: string, networks: readonly string[]): boolean {
  const [address, bits] = parseCidr(text);
  return networks.map(parseCidr).some(([net, size]: Cidr) => {
    return net.kind() === address.kind() && bits >= size && address.match(net, size);
  });
}

/** Whether all of `inner` is in `outer`; left out means everything. */
const within = <T>(inner: readonly T[] | undefined, outer: readonly T[] | undefined): boolean =>
  outer === undefined || (inner?.every((one) => outer.includes(one)) ?? false);

/** Whether every type that `inner` means is one that `outer` means. */
function typesWithin(inner: TokenRule, outer: TokenRule): boolean {
  if (outer.types) return within(inner.types, outer.types);
  // an allow with hosts and without types does not mean those that hand names on
  if (!outer.hosts || outer.effect === 'deny') return true;
  return inner.types ? !inner.types.some((type) => DELEGATING.has(type)) : inner.hosts !== undefined;
}

function valuesWithin(inner: Values | undefined, outer: Values | undefined): boolean {
  if (!outer) return true;
  if (!inner) return false;
  const { cidrs, suffixes, text } = outer;
  const isBelow = (name: string) => suffixes?.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));
  return (
    (!inner.cidrs || (cidrs !== undefined && inner.cidrs.every((one) => inNetworks(one, cidrs)))) &&
    (!inner.suffixes || inner.suffixes.every(isBelow)) &&
    (!inner.text ||
      (text !== undefined &&
        (inner.text.min_length ?? 0) >= (text.min_length ?? 0) &&
        (inner.text.max_length ?? Number.POSITIVE_INFINITY) <= (text.max_length ?? Number.POSITIVE_INFINITY)))
  );
}

function ttlsWithin(inner: TokenRule['ttl'], outer: TokenRule['ttl']): boolean {
  if (!outer) return true;
  if (!inner) return false;
  // what is judged before its TTL is known has one of 0
  return (
    (inner.min ?? 0) >= (outer.min ?? 0) &&
    (inner.max ?? Number.POSITIVE_INFINITY) <= (outer.max ?? Number.POSITIVE_INFINITY)
  );
}

/** Whether everything that `inner` meets is certainly met by `outer`, a rule of the same effect. */
const covers = (outer: TokenRule, inner: TokenRule): boolean =>
  within(inner.domains, outer.domains) &&
  within(inner.hosts, outer.hosts) &&
  typesWithin(inner, outer) &&
  within(inner.actions ?? ACTIONS, outer.actions ?? ACTIONS) &&
  valuesWithin(inner.values, outer.values) &&
  ttlsWithin(inner.ttl, outer.ttl);

const hasPattern = ({ values }: TokenRule) => values?.text?.pattern !== undefined;

/**
 * Whether other rules certainly allow nothing that these do not: each allow lies in an earlier one, and each earlier
 * deny in one that there is now. What cannot be proven so counts as more. Patterns cannot be compared, and which of
 * them are tried at all depends on the rules before them.
 * @param before rules within `RULE_LIMITS`; null: everything is allowed
 */
export function rulesNarrow(before: readonly TokenRule[] | null, after: readonly TokenRule[] | null): boolean {
  if (!before) return true;
  if (!after || [...before, ...after].some(hasPattern)) return false;
  const liesIn = (rules: readonly TokenRule[]) => (rule: TokenRule) =>
    rules.some((other) => other.effect === rule.effect && covers(other, rule));
  return (
    after.filter(({ effect }) => effect === 'allow').every(liesIn(before)) &&
    before.filter(({ effect }) => effect === 'deny').every(liesIn(after))
  );
}
