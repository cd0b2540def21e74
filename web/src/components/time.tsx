import { Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { bootstrapOptions } from '~/session/session';
import { relative } from './relative';

const TICK_MS = 30_000;

/** The time zone of the user, else of the installation, else of the browser. */
export function useTimeZone(): string | undefined {
  const { data } = useQuery({ ...bootstrapOptions, enabled: false });
  return data?.profile.timezone ?? data?.settings.timezone;
}

/** Writes times out in the user's language and time zone. */
export function useAbsolute(): (iso: string) => string {
  const { i18n } = useTranslation();
  const timeZone = useTimeZone();
  const format = new Intl.DateTimeFormat(i18n.language, { dateStyle: 'medium', timeStyle: 'medium', timeZone });
  return (iso) => format.format(Date.parse(iso));
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
