import type { Unmanaged } from './tunnel.dto.js';

/** A zone is the end of the hostname, and is stored as its number of labels. */
type Why =
  | ['none']
  | ['unmade']
  | ['left']
  | ['waits', plan: number]
  | ['gone', labels: number]
  | ['foreign', labels: number]
  | ['has', type: string, id: number];

/**
 * A hostname that has rules and no CNAME of ours, or the other way round, and why, as it is stored: so short that all
 * of a tunnel take no more room than its rules, which are bounded.
 */
export type Without = [hostname: string, ...why: Why];

/** The same as the API shows it. */
export const unmanagedView = ([hostname, ...why]: Without): Unmanaged => ({
  hostname,
  reason: reasonOf(hostname, why),
});

function reasonOf(hostname: string, why: Why): string {
  const zone = (labels: number) => hostname.split('.').slice(-labels).join('.');
  switch (why[0]) {
    case 'none':
      return 'no domain of this account here has it';
    case 'unmade':
      return 'no CNAME to it is known here; saving the tunnel makes it';
    case 'left':
      return 'somebody else took its rules away; its CNAME is kept, and goes with the next change here';
    case 'waits':
      return `its CNAME waits for an approval: plan ${why[1]}`;
    case 'gone':
      return `the provider no longer has the zone ${zone(why[1])}`;
    case 'foreign':
      return `the zone ${zone(why[1])} is in another account at the provider`;
    case 'has':
      return `${hostname} has a ${why[1]} record already (id ${why[2]})`;
  }
}
