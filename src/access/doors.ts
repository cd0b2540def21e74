/**
 * The doors by which other protocols come in: the scope that a token needs there, and whether the door is open unless
 * the settings say otherwise.
 */
export const FRONT_DOORS = {
  httpreq: { scope: 'acme', open: true },
  'acme-dns': { scope: 'acme', open: true },
  dyndns2: { scope: 'ddns', open: true },
  'external-dns': { scope: 'external-dns', open: true },
  'ddns-go': { scope: 'ddns', open: true },
  certd: { scope: 'acme', open: true },
  rfc2136: { scope: 'rfc2136', open: false },
  webhook: { scope: 'webhook', open: true },
  powerdns: { scope: 'powerdns', open: false },
} as const;
export type FrontDoor = keyof typeof FRONT_DOORS;
