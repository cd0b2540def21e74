import { yandexcloud } from '../../../src/providers/yandexcloud/declaration.js';
import type { ReplaySetup } from '../../support/recordings.js';

interface Recorded {
  name: string;
  type: string;
  ttl: string;
  data: string[];
}

/** Recorded 2022, with an IAM token, in a zone that is in no network. */
export const setup: ReplaySetup = {
  definition: yandexcloud,
  recording: 'yandexcloud',
  base: '/dns/v1',
  credentials: (endpoint) => ({ token: 't1.for-the-tests', folder_id: 'b1gm2f812hg4h5s5jsgn', endpoint }),
  listed({ path }, body, zone) {
    if (!path.endsWith(':listRecordSets')) return null;
    const { recordSets = [] } = body as { recordSets?: Recorded[] };
    return recordSets.flatMap(({ name, type, ttl, data }) =>
      data.map((value) => ({
        host: name === `${zone}.` ? '@' : name.slice(0, -zone.length - 2),
        ...{ type, value, ttl: Number(ttl) },
      })),
    );
  },
};
