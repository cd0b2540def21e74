import { useTranslation } from 'react-i18next';

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** Writes a number of bytes for people, in the language of the console. */
export function useBytes(): (bytes: number) => string {
  const { i18n } = useTranslation();
  return (bytes) => {
    const step = Math.min(UNITS.length - 1, bytes > 0 ? Math.floor(Math.log10(bytes) / 3) : 0);
    const format = { style: 'unit', unit: UNITS[step], unitDisplay: 'short', maximumFractionDigits: 1 } as const;
    return new Intl.NumberFormat(i18n.language, format).format(bytes / 1000 ** step);
  };
}
