import { Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useTitle } from '~/components/use-title';
import { chooseLanguage, LANGUAGES, type Language } from '~/i18n';
import { siteOptions } from '~/session/session';
import { Banner } from '~/shell/banner';
import { Brand } from '~/shell/brand';
import classes from './entry-frame.module.css';

interface Props {
  title: string;
  text?: ReactNode;
  /** wider, for forms of two columns */
  wide?: boolean;
  children: ReactNode;
}

/** The frame of what is shown before somebody is signed in: the name, one form, the language. */
export function EntryFrame({ title, text, wide = false, children }: Props) {
  const { i18n } = useTranslation('session');
  const { data: site } = useQuery(siteOptions);
  const image = site?.background_image;
  useTitle(title, site?.name);
  return (
    <div className={classes.page} style={image ? { backgroundImage: `url("${image}")` } : undefined}>
      <Banner />
      <main className={classes.main} data-wide={wide || undefined}>
        <div className={classes.brand}>
          <Brand name={site?.name ?? 'Zoneward'} />
        </div>
        <Title order={1}>{title}</Title>
        {text && (
          <Text fz="sm" c="dimmed" mt={4}>
            {text}
          </Text>
        )}
        <div className={classes.form}>{children}</div>
        <footer className={classes.languages}>
          {Object.entries(LANGUAGES).map(([language, name]) => (
            <button
              key={language}
              type="button"
              lang={language === 'zh' ? 'zh-Hans' : 'en'}
              aria-pressed={i18n.language === language}
              onClick={() => void chooseLanguage(language as Language)}
            >
              {name}
            </button>
          ))}
        </footer>
      </main>
    </div>
  );
}
