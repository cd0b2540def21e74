import { standsFor } from './dnssec.js';
import { MOST_KEPT } from './finder.service.js';
import { type HealthIssue, SEVERITIES } from './health.dto.js';
import type { Said, Servers } from './name-servers.service.js';

/** What was found out about a zone. */
export interface Survey extends Servers {
  /** SOA of each server */
  said: Said[];
  serials: (number | null)[];
  /** DNSKEY in wire form; null: no answer */
  keys: Buffer[] | null;
  /** the name servers that the zone above had before a recent change */
  before: string[] | null;
  /** what was left out of answers that were too large */
  cut: string[];
}

/** issues of one kind: each is about one server */
const MOST_ALIKE = 10;

const list = (names: readonly string[]) => names.join(', ');
const at = ({ server: { name, address } }: Said) => `${name}${address ? ` (${address})` : ''}`;

/** What is wrong with it, the worst first, with one line of advice each. */
export function issuesOf(zone: string, survey: Survey): HealthIssue[] {
  const found = [...delegation(zone, survey), ...servers(survey), ...chain(zone, survey), ...tooMuch(survey)];
  return found.sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
}

function delegation(
  zone: string,
  { delegation: { found, certain, names, parent }, own, before }: Survey,
): HealthIssue[] {
  const issues: HealthIssue[] = [];
  if (before)
    issues.push({
      code: 'ns_changed',
      severity: 'warning',
      text: `The name servers at ${parent} were ${list(before)}, and are ${list(names)} now`,
      advice: 'If nobody of yours did that, the domain may have been taken over: ask its registrar at once.',
    });
  if (found === 'parent') {
    const differ = own && list(own) !== list(names);
    if (differ)
      issues.push({
        code: 'ns_differ',
        severity: 'warning',
        text: `The zone above names ${list(names)}, the zone itself ${list(own)}`,
        advice: 'Make the NS records at the apex and the name servers at the registrar the same.',
      });
    if (names.length === 1)
      issues.push({
        code: 'one_server',
        severity: 'warning',
        text: `${names[0]} is the only name server`,
        advice: 'Delegate to at least two name servers in different networks.',
      });
    return issues;
  }
  if (found === 'resolver' || !certain)
    issues.push({
      code: 'parent_unknown',
      severity: 'hint',
      text: `The zone above ${zone} could not be asked; ${found === 'zone' ? 'its own records name' : 'a resolver knows'} ${list(names)}`,
      advice: 'Check that this machine reaches name servers of others on port 53, UDP and TCP.',
    });
  else
    issues.push({
      code: 'not_delegated',
      severity: 'critical',
      text: `Nobody delegates ${zone}; its own NS records name ${names.length ? list(names) : 'nobody'}`,
      advice:
        'Enter the name servers of the provider at the registrar, or set dns_resolvers to one that knows the zone.',
    });
  return issues;
}

function servers({ said, serials }: Survey): HealthIssue[] {
  const issues: HealthIssue[] = [];
  const counted = said.filter((one) => !one.noRoute && !one.tooMuch);
  const dead = counted.filter(({ reply }) => !reply);
  if (counted.length && dead.length === counted.length)
    issues.push({
      code: 'no_server_answers',
      severity: 'critical',
      text: `None of the ${dead.length} addresses of name servers answers for the zone`,
      advice: 'Check at the provider that the zone exists and is active, and that the delegation names its servers.',
    });
  for (const one of dead)
    issues.push({
      code: one.lame ? 'server_lame' : 'server_unreachable',
      severity: 'warning',
      text: `${at(one)}: ${one.error}`,
      advice: one.lame
        ? 'Let this server serve the zone, or take it out of the delegation.'
        : 'Bring this server back, or take it out of the delegation: some lookups wait for it.',
    });
  const known = new Set(serials.filter((serial) => serial !== null));
  if (known.size > 1)
    issues.push({
      code: 'serial_differs',
      severity: 'hint',
      text: `The servers have the SOA serials ${[...known].join(', ')}`,
      advice: 'Look again in some minutes; where it stays so, check the transfers to the secondary servers.',
    });
  return issues;
}

const tooMuch = ({ cut }: Survey): HealthIssue[] =>
  cut.slice(0, MOST_ALIKE).map((words) => ({
    code: 'answer_too_large',
    severity: 'warning',
    text: words,
    advice:
      'What is left out was not judged: serve fewer and smaller records, or take the server out of the delegation.',
  }));

function chain(zone: string, { delegation: { ds, parent }, keys }: Survey): HealthIssue[] {
  if (!keys || !ds) return [];
  if (!ds.length && !keys.length) return [];
  if (!ds.length)
    return [
      {
        code: 'key_without_ds',
        severity: 'hint',
        text: `The zone is signed, but ${parent || 'the root'} has no DS for it`,
        advice: 'Enter the DS of its key at the registrar: until then nobody checks the signatures.',
      },
    ];
  const judged = ds.map((one) => standsFor(one, zone, keys));
  if (judged.some((stands) => stands !== false)) return [];
  // there may be more of them, of which one fits
  if (Math.max(ds.length, keys.length) >= MOST_KEPT) return [];
  return [
    {
      code: 'ds_without_key',
      severity: 'critical',
      text: keys.length
        ? `No DS at ${parent || 'the root'} stands for a key of the zone`
        : `${parent || 'The root'} has a DS, but the zone has no keys`,
      advice: 'Remove the DS at the registrar, or enter that of the present key: validating resolvers answer SERVFAIL.',
    },
  ];
}
