import { useTranslation } from 'react-i18next';

interface Maker {
  username?: string | null;
  token_name?: string | null;
  type?: string;
}

/** Who made something: a user, with the token that was used, or the service by itself. */
export function Who({ of }: { of: Maker }) {
  const { t } = useTranslation('plans');
  const name = of.username ?? (of.type === 'system' || of.type === undefined ? t('who.system') : t('who.gone'));
  return <>{of.token_name ? t('who.token', { name, token: of.token_name }) : name}</>;
}

/** By which way a change came in, in words. */
export function useDoor(): (door: string) => string {
  const { t } = useTranslation('plans');
  return (door) => t(`door.${door}`, { defaultValue: door });
}
