import { fullName, isHostname } from '../../dns/names.js';
import type { ChangedState } from '../history/states.js';

type State = Pick<ChangedState, 'host' | 'type' | 'value' | 'enabled'>;

/** Types whose owner has to be a host name. */
const OF_HOSTS: ReadonlySet<string> = new Set(['A', 'AAAA', 'MX']);
/** Types whose target has to be a host name. */
const TO_HOSTS: ReadonlySet<string> = new Set(['MX', 'NS', 'SRV']);
const REVERSE = /(^|\.)(in-addr\.arpa|ip6\.arpa|ip6\.int)$/;
/** Start of a name with addresses that is left out: a wildcard, and the global catalog of Active Directory. */
const EXCEPTED = /^(\*|gc\._msdcs)\./;
/** Names of DNS-SD, whose PTR records point to anything. */
const SERVICE_LIST = /^(b|db|r|dr|lb)\._dns-sd\._udp\./;

/** The domain of a mailbox: the labels after the first one, which may be anything; the root where there is none. */
const domainOf = (mailbox: string): string => /^(?:\\.|[^.\\])+\.(.+)$/.exec(mailbox)?.[1] ?? '.';

/** The names of a live record that `check-names` of BIND 9.18 rejects in a primary zone. */
export function misnamesIn({ host, type, value, enabled }: State, zone: string): string[] {
  if (!enabled) return [];
  const owner = fullName(host, zone);
  const words = value.split(' ');
  const [first = '', second = ''] = words;
  const target = words.at(-1) as string;
  const names: string[] = [];
  const check = (name: string, checked = name) => {
    if (checked !== '.' && !isHostname(checked)) names.push(name);
  };
  if (OF_HOSTS.has(type)) check(owner, owner.replace(type === 'MX' ? /^\*\./ : EXCEPTED, ''));
  if (TO_HOSTS.has(type)) check(target);
  if (type === 'PTR' && REVERSE.test(owner) && !SERVICE_LIST.test(owner)) check(target);
  if ((type === 'SVCB' || type === 'HTTPS') && first !== '0') check(second);
  if (type === 'RP') check(first, domainOf(first));
  return names;
}

/** Place of the target among the words of a value, from the end where it is negative. */
const TARGET_AT: Readonly<Record<string, number>> = {
  ...{ CNAME: -1, MX: -1, NS: -1, SRV: -1, ALIAS: -1, DNAME: -1, PTR: -1, SVCB: 1, HTTPS: 1 },
};

/** The target of a live record where it is one label and not the zone itself; null: it is none. */
export function shortTargetOf({ type, value, enabled }: State, zone: string): string | null {
  const at = TARGET_AT[type];
  const target = at === undefined || !enabled ? undefined : value.split(' ').at(at);
  return target === undefined || target.includes('.') || target === zone ? null : target;
}
