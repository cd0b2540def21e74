import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { type Tagged, useTagged } from '~/api/tagged';
import type { DomainDetail } from '../domains';

export type Patch = components['schemas']['DomainPatch'];

/** A domain as its settings were read, for forms that write only over what was seen. */
export interface Base {
  domain: DomainDetail;
  tagged: Tagged<DomainDetail>;
  /** sends some settings; what is typed in other sections stays */
  save: (patch: Patch) => Promise<void>;
}

/** The settings of a domain: what is typed stays, whatever is read anew behind it. */
export function useBase(id: number) {
  const params = { path: { domain_id: String(id) } };
  const query = useTagged<DomainDetail>(['get', '/api/domains/{domain_id}', params, 'settings'], (signal) =>
    client.GET('/api/domains/{domain_id}', { params, signal }),
  );
  const { data: tagged } = query;
  const save = async (body: Patch) => {
    await tagged?.save((headers) => client.PUT('/api/domains/{domain_id}', { params, headers, body }));
    await invalidate('/api/domains', '/api/dashboard');
  };
  return { ...query, data: tagged && { domain: tagged.value, tagged, save } };
}
