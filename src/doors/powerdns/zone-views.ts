import { absolute } from '../../dns/names.js';
import type { DomainRow } from '../../domains/domain-policy.js';

/** As PowerDNS 4.9 is spoken, the first with EXTEND and PRUNE. */
export const VERSION = '4.9.12';
export const API = '/api/v1';
const SERVER = `${API}/servers/localhost`;

/** The server that all zones are at, as clients look for it. */
export const SERVER_VIEW = {
  autoprimaries_url: `${SERVER}/autoprimaries{/autoprimary}`,
  config_url: `${SERVER}/config{/config_setting}`,
  daemon_type: 'authoritative',
  id: 'localhost',
  type: 'Server',
  url: SERVER,
  version: VERSION,
  zones_url: `${SERVER}/zones{/zone}`,
};

/** The id of a zone: its name with the final dot; characters other than letters, digits, dots and hyphens are `=XX`. */
export const idOf = (name: string): string =>
  absolute(name).replace(/[^a-z0-9.-]/gi, (one) => `=${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

/** The name that an id is of, with or without final dot. */
export const nameOfId = (id: string): string =>
  id.replace(/=([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** Raised with each change here; what its name servers publish belongs to the provider. */
export const serialOf = ({ revision }: Pick<DomainRow, 'revision'>): number => revision + 1;

/** A zone in a list; its keys have the order of PowerDNS. @param signing whether to say that it is not signed here */
export function zoneItem(row: DomainRow, signing = true) {
  const serial = serialOf(row);
  return {
    account: row.account_name,
    catalog: '',
    ...(signing && { dnssec: false, edited_serial: serial }),
    id: idOf(row.name),
    kind: 'Native',
    last_check: 0,
    masters: [],
    name: absolute(row.name),
    notified_serial: 0,
    serial,
    url: `${SERVER}/zones/${idOf(row.name)}`,
  };
}

/** What stands before and behind the sets of a zone, in JSON. */
export function zoneFrame(row: DomainRow): { head: string; tail: string } {
  const { account, catalog, dnssec, edited_serial, id, kind, last_check, masters, name, notified_serial, serial, url } =
    zoneItem(row);
  const head = {
    account,
    api_rectify: false,
    catalog,
    ...{ dnssec, edited_serial, id, kind, last_check },
    master_tsig_key_ids: [],
    masters,
    name,
    notified_serial,
    nsec3narrow: false,
    nsec3param: '',
  };
  const tail = { serial, slave_tsig_key_ids: [], soa_edit: '', soa_edit_api: 'DEFAULT', url };
  return { head: JSON.stringify(head).slice(0, -1), tail: JSON.stringify(tail).slice(1) };
}
