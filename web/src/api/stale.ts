import type { components } from './schema.js';

type Schemas = components['schemas'];

/** What `GET /api/events` tells. */
export interface Events {
  'records.changed': Schemas['RecordsChanged'];
  'records.synced': Schemas['RecordsSynced'];
  'domain.created': Schemas['DomainCreated'];
  'domain.removed': Schemas['DomainRemoved'];
  'failover.switched': Schemas['FailoverSwitched'];
  'account.synced': Schemas['AccountSynced'];
  'job.started': Schemas['JobStarted'];
  'job.progress': Schemas['JobProgress'];
  'job.done': Schemas['JobDone'];
  'job.failed': Schemas['JobFailed'];
  'settings.changed': Schemas['SettingsChanged'];
  reset: Schemas['StreamReset'];
}

/** What is read anew when something happens, by the beginning of its address. */
export const STALE: Record<keyof Events, string[]> = {
  'records.changed': ['/api/domains/{domain_id}', '/api/records', '/api/changes', '/api/plans', '/api/dashboard'],
  'records.synced': ['/api/domains', '/api/records', '/api/dashboard'],
  'domain.created': ['/api/domains', '/api/dashboard'],
  'domain.removed': ['/api/domains', '/api/dashboard', '/api/trash'],
  'failover.switched': ['/api/domains/{domain_id}/failover', '/api/dashboard'],
  'account.synced': ['/api/accounts', '/api/dashboard'],
  'job.started': ['/api/system/jobs'],
  'job.progress': [],
  'job.done': ['/api/system/jobs', '/api/dashboard'],
  'job.failed': ['/api/system/jobs', '/api/dashboard'],
  'settings.changed': ['/api/settings', '/api/doors', '/api/site', '/api/bootstrap'],
  reset: ['/api'],
};

/** These ask servers out there: only when somebody wants it. */
const PROBES = /\/(health|propagation)$/;

interface Init {
  domain?: unknown;
  domain_id?: unknown;
  path?: Init;
  params?: Init;
}

/** The domain in the key of a query: keys have it as the call has it. */
function domainIn({ domain_id, domain, path, params }: Init): unknown {
  return domain_id ?? domain ?? (path && domainIn(path)) ?? (params && domainIn(params));
}

/** Whether what was read under this key may be another by an event. */
export function isStale([, address, init]: readonly unknown[], name: keyof Events, data: unknown): boolean {
  if (typeof address !== 'string' || PROBES.test(address)) return false;
  if (!STALE[name].some((prefix) => address.startsWith(prefix))) return false;
  const { domain_id: changed } = (data ?? {}) as { domain_id?: number };
  const shown = address.includes('{domain_id}') && typeof init === 'object' && init ? domainIn(init) : undefined;
  return changed === undefined || shown === undefined || String(shown) === String(changed);
}
