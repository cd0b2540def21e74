import { type Asked, type Difference, elements } from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';
import { type Body, bodyOf, withoutQuery } from '../differences.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'the list of zones is asked for as `hostedzone`, not `hostedzonesbyname`',
    reason:
      'both list all zones; only the first pages by one marker. The answer is the recorded one under the other name',
    answer: (asked, { scenario }) => {
      if (asked.path !== '/2013-04-01/hostedzone') return undefined;
      const found = scenario.interactions.find(({ request }) => request.url.includes('hostedzonesbyname'));
      return (
        found && {
          body: `${found.response.body}`.replaceAll('ListHostedZonesByNameResponse', 'ListHostedZonesResponse'),
        }
      );
    },
  },
  {
    what: 'paging of lists, and the name at which they begin',
    reason: 'few sets are read one by one, from their name on; the recorded client read the whole zone each time',
    normal: withoutQuery,
  },
  {
    what: 'a comment on each change',
    reason: 'it has no meaning, and is the name of the recorded client',
    normal: (asked) => changeBatch(asked, ({ Comment: _comment, ...batch }) => batch),
  },
  {
    what: 'targets are absolute',
    reason: 'Route 53 takes both; a name with its final dot is the same whatever the zone',
    normal: (asked) =>
      changeBatch(asked, (batch) => ({
        ...batch,
        Changes: {
          Change: elements((batch.Changes as Body | undefined)?.Change).map((change) => {
            const set = change.ResourceRecordSet as Body;
            if (set?.Type !== 'CNAME') return change;
            const values = elements((set.ResourceRecords as Body)?.ResourceRecord);
            const ResourceRecord = values.map(({ Value }) => ({ Value: `${Value}`.replace(/\.?$/, '.') }));
            return { ...change, ResourceRecordSet: { ...set, ResourceRecords: { ResourceRecord } } };
          }),
        },
      })),
  },
  {
    what: 'DELETE and CREATE of a set in one batch, in place of its UPSERT',
    reason: 'the deletion names the set as it was read: Route 53 refuses it where another writer has changed that',
    normal: (asked) =>
      changeBatch(asked, (batch) => {
        const all = elements((batch.Changes as Body | undefined)?.Change);
        const made = new Set(all.filter(({ Action }) => Action !== 'DELETE').map(setOf));
        const kept = all.filter((change) => change.Action !== 'DELETE' || !made.has(setOf(change)));
        return {
          ...batch,
          Changes: kept.map((change) => ({ ...change, Action: change.Action === 'CREATE' ? 'UPSERT' : change.Action })),
        };
      }),
  },
  {
    what: 'a record that changes its name moves there',
    reason: 'the recorded client wrote the old name again; the adapter deletes the old set and writes the new one',
    unsent: (asked, { scenario, zone }) =>
      renames(scenario.steps ?? [], zone).some(
        ({ from }) =>
          JSON.stringify(asked.body ?? '').includes(`"${from}"`) &&
          !JSON.stringify(asked.body).includes('"challengetoken"'),
      ),
    answer: (asked, { scenario, zone }) => {
      const moved =
        asked.method === 'POST' &&
        renames(scenario.steps ?? [], zone).some(({ from, to }) => {
          const words = JSON.stringify(asked.body);
          return words.includes(`"${from}"`) && words.includes(`"${to}"`) && words.includes('"DELETE"');
        });
      return moved ? ROUTE53_PENDING : undefined;
    },
  },
  {
    what: 'a value that is there is not written again',
    reason: 'creating what exists is a success; Route 53 refuses the same value twice in a set (recorded)',
    unsent: (asked) =>
      changesOf(asked).some((change) => {
        const values = elements(((change.ResourceRecordSet as Body)?.ResourceRecords as Body)?.ResourceRecord).map(
          (r) => r.Value,
        );
        return new Set(values).size < values.length;
      }),
  },
];

const ROUTE53_PENDING: Answer = {
  headers: { 'content-type': 'text/xml' },
  body: '<?xml version="1.0"?><ChangeResourceRecordSetsResponse><ChangeInfo><Status>PENDING</Status></ChangeInfo></ChangeResourceRecordSetsResponse>',
};

const batchOf = (asked: Asked): Body | undefined =>
  (bodyOf(asked).ChangeResourceRecordSetsRequest as { ChangeBatch?: Body } | undefined)?.ChangeBatch;

const changesOf = (asked: Asked): Body[] => {
  const changes = batchOf(asked)?.Changes;
  return Array.isArray(changes) ? (changes as Body[]) : elements((changes as Body | undefined)?.Change);
};

function changeBatch(asked: Asked, change: (batch: Body) => Body): Asked {
  const batch = batchOf(asked);
  return batch ? { ...asked, body: { ChangeResourceRecordSetsRequest: { ChangeBatch: change(batch) } } } : asked;
}

const setOf = ({ ResourceRecordSet }: Body): string => {
  const { Name, Type } = ResourceRecordSet as Body;
  return `${Name} ${Type}`;
};

const renames = (steps: readonly { op: string; from?: string; host?: string }[], zone: string) =>
  steps.flatMap(({ op, from, host }) =>
    op === 'update' && from && from !== host ? [{ from: `${from}.${zone}.`, to: `${host}.${zone}.` }] : [],
  );
