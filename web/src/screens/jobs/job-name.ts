import { useTranslation } from 'react-i18next';

/** Names jobs in words: `account.sync` as the locale files have it, else as it is. */
export function useJobName(): (name: string) => string {
  const { t, i18n } = useTranslation('jobs');
  return (name) => (i18n.exists(`jobs:of.${name}`) ? t(`of.${name}`) : name);
}
