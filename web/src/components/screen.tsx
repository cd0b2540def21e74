import '@mantine/core/styles.layer.css';
import { Group, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { bootstrapOptions } from '~/session/session';
import { AppLink } from './app-link';
import classes from './screen.module.css';
import { useTitle } from './use-title';

export interface Crumb {
  label: string;
  to: string;
}

interface Props {
  /** of the page and of the tab */
  title: string;
  /** it is the name of a zone: drawn as names are, with the dot of the root */
  isName?: boolean;
  /** the way from the top to here, without here */
  crumbs?: Crumb[];
  /** beside the title: at most two buttons, the most used one first */
  actions?: ReactNode;
  /** below the title, such as the tabs of a zone */
  tabs?: ReactNode;
  /** one line below the title */
  about?: ReactNode;
  children: ReactNode;
}

/** The frame of every screen: way, title, actions, content. */
export function Screen({ title, isName = false, crumbs = [], actions, tabs, about, children }: Props) {
  const { t } = useTranslation('shell');
  const { data } = useQuery({ ...bootstrapOptions, enabled: false });
  useTitle(title, data?.settings.site_name);
  return (
    <>
      <header className={classes.head} data-tabs={tabs !== undefined || undefined}>
        {crumbs.length > 0 && (
          <nav aria-label={t('way')} className={classes.way}>
            <ol>
              {crumbs.map(({ label, to }) => (
                <li key={to}>
                  <AppLink to={to} fz="inherit">
                    {label}
                  </AppLink>
                </li>
              ))}
            </ol>
          </nav>
        )}
        <Group justify="space-between" align="center" gap="sm" wrap="wrap">
          <Title order={1} className={isName ? classes.name : undefined}>
            {title}
            {isName && (
              <span className={classes.root} aria-hidden>
                .
              </span>
            )}
          </Title>
          {actions && <Group gap="sm">{actions}</Group>}
        </Group>
        {about && <div className={classes.about}>{about}</div>}
        {tabs}
      </header>
      <div className={classes.body}>{children}</div>
    </>
  );
}

/** A part of a screen, with a heading. */
export function Section({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className={classes.section} aria-label={title}>
      <Group justify="space-between" className={classes.sectionHead} gap="xs">
        <Title order={2}>{title}</Title>
        {actions && <Group gap="sm">{actions}</Group>}
      </Group>
      {children}
    </section>
  );
}
