import { route53 } from '../../../src/providers/route53/declaration.js';
import { elements, type ReplaySetup } from '../../support/recordings.js';

type Body = Record<string, unknown>;

/** Recorded 2022. */
export const setup: ReplaySetup = {
  definition: route53,
  recording: 'route53',
  base: '',
  credentials: (endpoint) => ({ access_key_id: 'AKID', secret_access_key: 'a-secret-for-the-tests', endpoint }),
  listed(_asked, body, zone) {
    const answer = (body as { ListResourceRecordSetsResponse?: { ResourceRecordSets?: Body } })
      .ListResourceRecordSetsResponse;
    if (!answer) return null;
    return elements(answer.ResourceRecordSets?.ResourceRecordSet)
      .filter((set) => set.Type !== 'SOA')
      .flatMap((set) =>
        elements((set.ResourceRecords as Body | undefined)?.ResourceRecord).map(({ Value }) => {
          const name = `${set.Name}`.slice(0, -1);
          const text = `${Value}`;
          return {
            host: name === zone ? '@' : name.slice(0, -zone.length - 1),
            type: `${set.Type}`,
            value: set.Type === 'TXT' ? text.slice(1, -1) : text.replace(/\.$/, ''),
            ttl: Number(set.TTL),
          };
        }),
      );
  },
};
