import type { Difference } from '../../support/recordings.js';
import { readFirst } from '../differences.js';
import * as aliyun from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  readFirst(({ query }) => (query.Action === 'DescribeDomainRecordInfo' ? query.RecordId : undefined)),
  {
    what: 'who asks, GET in place of POST, paging, the line and the zone of writes',
    reason:
      'credentials, times and signatures are masked; lists come by the largest pages; the default line is said; what has an id needs no zone',
    normal: aliyun.parameters,
  },
  {
    what: 'zones are listed (`DescribeDomains`), not asked for by name (`DescribeDomainInfo`)',
    reason: 'the service shows all zones of an account; the list is made of the recorded answers for single zones',
    answer: aliyun.zones,
  },
  {
    what: 'the whole zone is listed, not a name',
    reason:
      'the service shows all records; the list is made of the recorded ones, each of which has a part of the zone',
    answer: aliyun.records,
  },
  {
    what: 'a recorded page is a whole list',
    reason: 'the recorded client took pages of 20 and read no second one; the adapter asks for 500',
    fitted: aliyun.firstPage,
  },
  {
    what: 'a record that exists is asked for again',
    reason:
      'the recorded client looks before it writes; the adapter writes, and looks when it is refused: the recording has no refusal',
    answer: aliyun.unneeded,
  },
];
