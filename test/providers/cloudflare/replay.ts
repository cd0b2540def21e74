import { cloudflare } from '../../../src/providers/cloudflare/declaration.js';
import type { Asked, ReplaySetup } from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';

interface Recorded {
  id: string;
  type: string;
  name: string;
  content: string;
  ttl: number;
}

/** Recorded 2025. */
export const setup: ReplaySetup = {
  definition: cloudflare,
  recording: 'cloudflare',
  base: '/client/v4',
  credentials: (endpoint) => ({ api_token: 'a-token-for-the-tests', endpoint }),
  listed({ path }, body, zone) {
    const { result } = body as { result: Recorded[] | Recorded };
    if (!path.includes('/dns_records') || !Array.isArray(result)) return null;
    return result.map((r) => ({
      remoteId: r.id,
      type: r.type,
      host: r.name === zone ? '@' : r.name.slice(0, -zone.length - 1),
      value: r.type === 'TXT' ? r.content.replace(/^"(.*)"$/, '$1') : r.content,
      ttl: r.ttl,
    }));
  },
  written: (_asked, body) => (body as { result?: Recorded }).result?.id,
};

const BATCH = /\/dns_records\/batch$/;
/** in the order in which they are carried out */
const METHODS = { deletes: 'DELETE', patches: 'PATCH', puts: 'PUT', posts: 'POST' } as const;
type Batch = { [part in keyof typeof METHODS]?: { id?: string; content?: string }[] };
const partsOf = (body: unknown) =>
  (Object.keys(METHODS) as (keyof typeof METHODS)[]).flatMap((part) =>
    ((body as Batch)[part] ?? []).map((change) => ({ part, change })),
  );

/** A list of changes as the single calls that the recorded client made. */
export function singly({ path, body }: Asked): Asked[] | undefined {
  if (!BATCH.test(path)) return undefined;
  const records = path.replace(BATCH, '/dns_records');
  return partsOf(body).map(({ part, change: { id, ...fields } }) => ({
    method: METHODS[part],
    path: id === undefined ? records : `${records}/${id}`,
    query: {},
    body: part === 'deletes' ? undefined : { ...fields, content: fields.content?.replace(/^"(.*)"$/, '$1') },
  }));
}

/** The answer to a list: those to the single calls, by what they did. */
export function together(answers: readonly Answer[], { path, body }: Asked): Answer | undefined {
  if (!BATCH.test(path)) return undefined;
  const result: Record<string, unknown[]> = { deletes: [], patches: [], puts: [], posts: [] };
  for (const [i, { part }] of partsOf(body).entries())
    result[part]?.push((answers[i]?.body as { result?: unknown } | undefined)?.result);
  return { body: { success: true, errors: [], messages: [], result } };
}
