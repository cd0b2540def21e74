import { Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { queryClient } from '~/api/query';
import type { components } from '~/api/schema';
import { bootstrapOptions } from '~/session/session';
import { relative } from './relative';

type Schemas = components['schemas'];

const TICK_MS = 30_000;

const zoneIn = (data: Schemas['BootstrapView'] | undefined) => data?.profile.timezone ?? data?.settings.timezone;

/** The time zone of the user, else of the installation, else of the browser. */
export const useTimeZone = (): string | undefined => zoneIn(useQuery({ ...bootstrapOptions, enabled: false }).data);

const formats = new Map<string, Intl.DateTimeFormat>();

function write(iso: string, language: string, timeZone: string | undefined): string {
  const key = `${language} ${timeZone}`;
  const format =
    formats.get(key) ?? new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium', timeZone });
  formats.set(key, format);
  return format.format(Date.parse(iso));
}

/** The same as of `useAbsolute`, for what is drawn a thousand times: it does not follow the profile by itself. */
export const absoluteOf = (iso: string, language: string): string =>
  write(iso, language, zoneIn(queryClient.getQueryData(bootstrapOptions.queryKey)));

/** Writes times out in the user's language and time zone. */
export function useAbsolute(): (iso: string) => string {
  const { i18n } = useTranslation();
  const timeZone = useTimeZone();
  return (iso) => write(iso, i18n.language, timeZone);
}

/** A time: how long ago, and on hover or focus when. `exact` the other way round. */
export function Time({ iso, exact = false }: { iso: string | null | undefined; exact?: boolean }) {
  const { i18n } = useTranslation();
  const absolute = useAbsolute();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  if (!iso) return <span>–</span>;
  const [shown, behind] = [relative(iso, now, i18n.language), absolute(iso)];
  return (
    <Tooltip label={exact ? shown : behind}>
      <time dateTime={iso}>{exact ? behind : shown}</time>
    </Tooltip>
  );
}
