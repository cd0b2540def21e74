import { type QueryKey, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import i18n from '~/i18n';
import { ApiError } from './errors';
import { queryClient } from './query';

interface Answer {
  data?: unknown;
  response: Response;
}

interface Read<V> {
  value: V;
  /** names its state, for `If-Match` */
  etag: string;
}

/** Something as a form was filled from it, for a write that counts only over what was seen. */
export interface Tagged<V> {
  value: V;
  /** what is there now, where somebody else has saved since; null: what was seen is still there */
  theirs: V | null;
  /** for the key of a form: another one where the form has to be filled anew from what others have saved */
  generation: number;
  /** how often it was saved here: a part of the key of a form that shows what the server made of it */
  saves: number;
  /** a condition that only what was seen fulfils */
  headers: Record<string, string>;
  /** sends a write with `headers`. Where somebody was faster, nothing is lost: `theirs` is there then. */
  save: (write: (headers: Record<string, string>) => Promise<Answer>) => Promise<void>;
  /** fills the form anew from what is there now */
  take: () => void;
  /** goes on from what is there now, with what was typed */
  keep: () => Promise<void>;
}

/** What writes compare; the rest of a tag tells of what is only shown. */
const stateIn = (etag: string) => etag.replace(/\.[0-9a-f]+"$/, '"');

const readOf = <V>({ data, response }: Answer): Read<V> => ({
  value: data as V,
  etag: response.headers.get('etag') ?? '',
});

/**
 * Reads something for a form. What is read anew behind the form does not touch it: it goes on from what it was filled
 * from, and says so when another one has saved (`Theirs`).
 */
export function useTagged<V>(queryKey: QueryKey, ask: (signal: AbortSignal) => Promise<Answer>) {
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => readOf<V>(await ask(signal)),
    // a form that is opened again begins from what is there then
    gcTime: 0,
  });
  const { data: latest, error, refetch } = query;
  const [base, setBase] = useState<Read<V> | null>(null);
  const [generation, setGeneration] = useState(0);
  const [saves, setSaves] = useState(0);
  if (latest && !base) setBase(latest);
  if (!latest) return { data: undefined, error, refetch };
  const seen = base ?? latest;
  const isSame = stateIn(latest.etag) === stateIn(seen.etag);
  const headers: Record<string, string> = seen.etag ? { 'If-Match': seen.etag } : {};
  const data: Tagged<V> = {
    value: isSame ? latest.value : seen.value,
    theirs: isSame ? null : latest.value,
    generation,
    saves,
    headers,
    take: () => {
      setBase(latest);
      setGeneration((before) => before + 1);
    },
    keep: async () => {
      const { data: now = latest } = await refetch();
      setBase(now);
    },
    save: async (write) => {
      try {
        const saved = readOf<V>(await write(headers));
        await queryClient.cancelQueries({ queryKey });
        queryClient.setQueryData(queryKey, saved);
        setBase(saved);
        setSaves((before) => before + 1);
      } catch (failure) {
        if (!(failure instanceof ApiError) || failure.status !== 412) throw failure;
        await refetch();
        const { status, code, requestId } = failure;
        throw new ApiError(status, code, i18n.t('common:theirs.notSaved'), {}, requestId);
      }
    },
  };
  return { data, error, refetch };
}
