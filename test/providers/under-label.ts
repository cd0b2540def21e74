import type { Connected } from '../../src/providers/connect.js';
import { withinDeadline } from '../../src/providers/kit/http/deadline-context.js';
import type { Change, DnsRecord, RemoteZone } from '../../src/providers/provider.js';

/** ms that one call may wait for the limits of a real account */
const PATIENCE_MS = 300_000;

const patiently = <T>(work: () => Promise<T>): Promise<T> => withinDeadline(performance.now() + PATIENCE_MS, work);

/**
 * One label of a zone as a zone of its own: nothing else of the zone is shown, and nothing else can be written.
 * @param label '' for the whole zone
 */
export function underLabel(provider: Connected, real: RemoteZone, label: string) {
  const end = label && `.${label}`;
  const zone: RemoteZone = { id: real.id, name: `${label}${label && '.'}${real.name}` };
  const seen = (found: RemoteZone): RemoteZone => (found.name === real.name ? zone : found);
  const host = (name: string) => (name === '@' ? label || '@' : `${name}${end}`);
  const outward = <R extends DnsRecord>(record: R): R => ({ ...record, host: host(record.host) });
  const inward = <R extends DnsRecord>(record: R): R[] => {
    if (record.host === host('@')) return [{ ...record, host: '@' }];
    return record.host.endsWith(end)
      ? [{ ...record, host: record.host.slice(0, record.host.length - end.length) }]
      : [];
  };
  const written = (change: Change): Change => {
    if (change.op === 'create') return { ...change, after: outward(change.after) };
    const before = outward(change.before);
    return change.op === 'delete' ? { ...change, before } : { ...change, before, after: outward(change.after) };
  };
  const scoped: Connected = {
    ...provider,
    check: () => patiently(provider.check),
    listZones: async () => (await patiently(provider.listZones)).map(seen),
    async findZone(name) {
      const found = await patiently(() => provider.findZone(label ? name.replace(`${label}.`, '') : name));
      return found && seen(found);
    },
    listRecords: async (_zone, more) =>
      (await patiently(() => provider.listRecords(real, more))).flatMap((record) => inward(record)),
    async recordsAt(_zone, keys) {
      const sets = keys.map((key) => ({ ...key, host: host(key.host) }));
      return (await patiently(() => provider.recordsAt(real, sets)))?.flatMap((record) => inward(record)) ?? null;
    },
    async apply(_zone, changes, more) {
      const deadline = performance.now() + PATIENCE_MS;
      const outcomes = await provider.apply(real, changes.map(written), { deadline, ...more });
      return outcomes.map((one) => (one.ok && one.held ? { ...one, held: inward(one.held)[0] ?? one.held } : one));
    },
  };
  return { provider: scoped, zone };
}
