import { useTranslation } from 'react-i18next';

/** Names jobs in words: `account.sync` as the locale files have it, else as it is. */
export function useJobName(): (name: string) => string {
  const { t, i18n } = useTranslation('jobs');
  return (name) => {
    const key = name.replace('.', '-');
    return i18n.exists(`jobs:of.${key}`) ? t(`of.${key}`) : name;
  };
}
