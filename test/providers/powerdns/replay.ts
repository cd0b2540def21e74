import { powerdns } from '../../../src/providers/powerdns/declaration.js';
import type { ReplaySetup } from '../../support/recordings.js';

interface Recorded {
  name: string;
  type: string;
  ttl: number;
  records: { content: string }[];
}

/** Its traffic is not in the folder that we have; this is for one that has it. */
export const setup: ReplaySetup = {
  definition: powerdns,
  recording: 'powerdns',
  base: '',
  credentials: (endpoint) => ({ url: endpoint, api_key: 'a-key-for-the-tests', server_id: 'localhost' }),
  listed({ path }, body, zone) {
    const { rrsets } = body as { rrsets?: Recorded[] };
    if (!path.includes('/zones/') || !rrsets) return null;
    return rrsets
      .filter((set) => set.type !== 'SOA')
      .flatMap((set) =>
        set.records.map(({ content }) => {
          const name = set.name.replace(/\.$/, '');
          return {
            host: name === zone ? '@' : name.slice(0, -zone.length - 1),
            type: set.type,
            value: set.type === 'TXT' ? content.slice(1, -1) : content.replace(/\.$/, ''),
            ttl: set.ttl,
          };
        }),
      );
  },
};
