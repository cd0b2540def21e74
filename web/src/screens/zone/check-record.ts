import { client } from '~/api/client';
import { ApiError, type FieldError } from '~/api/errors';
import type { components } from '~/api/schema';
import { type Fields, fieldsOf, type RecordRow } from './fields';
import type { Plan } from './publish/settle';
import { changesOf, type Edit } from './tray';

/** Records up to which reading the zone at the provider is quick enough to be done for one field. */
const CHEAP = 5000;
const PATIENCE_MS = 4000;

/**
 * What the service says of an edit before it goes to the tray: a dry run of it, behind the edits of the same name. What
 * takes long, or cannot be asked, is left to the plan.
 * @returns the mistakes, by field; `''` is the record
 */
export async function mistakesOf(
  domain: { id: number; records_count: number },
  edits: readonly Edit[],
  edit: Edit,
  signal: AbortSignal,
): Promise<FieldError[]> {
  if (domain.records_count > CHEAP) return [];
  const hosts = new Set([edit.before?.host, edit.after?.host]);
  const isNear = ({ key, before, after }: Edit) =>
    key !== edit.key && (hosts.has(before?.host ?? '-') || hosts.has(after?.host ?? '-'));
  const near = changesOf(edits.filter(isNear)).changes;
  const changes = [...near, ...changesOf([edit]).changes];
  const params = { path: { domain_id: String(domain.id) }, query: { dry_run: true } };
  const at = `changes.${changes.length - 1}`;
  const fields = (error: { msg: string; errors?: FieldError[] }): FieldError[] =>
    error.errors?.length
      ? error.errors.map((one) => ({ ...one, path: one.path.replace(/^changes\.\d+\.?/, '') }))
      : [{ path: '', message: error.msg }];
  try {
    const { data } = await client.POST('/api/domains/{domain_id}/records/batch', {
      params,
      body: { changes: changes as never, atomic: false },
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    });
    const misfit = ((data as unknown as Plan).failures ?? []).find(({ path }) => path === at);
    return misfit ? fields({ msg: misfit.msg, errors: (misfit.data as { errors?: FieldError[] })?.errors ?? [] }) : [];
  } catch (error) {
    if (!(error instanceof ApiError) || ![400, 409, 422].includes(error.status)) return [];
    // none of them fits: each says why
    const outcomes = error.data.outcomes as components['schemas']['BatchOutcome'][] | undefined;
    if (outcomes) {
      const own = outcomes.at(-1)?.error;
      return own ? fields({ msg: own.msg, errors: (own.data as { errors?: FieldError[] })?.errors ?? [] }) : [];
    }
    const mine = error.fields.filter(
      ({ path }) => path.startsWith(`${at}.`) || path === at || !/^changes\./.test(path),
    );
    if (error.fields.length && !mine.length) return [];
    return fields({ msg: error.message, errors: mine });
  }
}

/** The check of one form: of a record that is there, or of a new one with the key of its edit. */
export const checkOf =
  (domain: { id: number; records_count: number }, edits: readonly Edit[], row: RecordRow | null, key = '') =>
  (after: Fields, signal: AbortSignal): Promise<FieldError[]> => {
    const held = row && edits.find(({ id }) => id === row.id);
    const before = row && (held?.before ?? fieldsOf(row));
    return mistakesOf(domain, edits, { key: held?.key ?? key, id: row?.id ?? null, before, after }, signal);
  };
