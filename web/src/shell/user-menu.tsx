import { Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { useErrorWords } from '~/components/error-text';
import { chooseLanguage, LANGUAGES, type Language } from '~/i18n';
import { signOut, useMe } from '~/session/session';
import classes from './shell.module.css';

const SCHEMES = ['auto', 'light', 'dark'] as const;
type Scheme = (typeof SCHEMES)[number];

/** Who is signed in, and what is of this user alone. */
export function UserMenu() {
  const { t, i18n } = useTranslation('shell');
  const me = useMe();
  const words = useErrorWords();
  const navigate = useNavigate();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  // the choice is of the user, and follows to other browsers; here it counts at once
  const keep = (body: { language?: Language; theme?: Scheme }) =>
    void client.PUT('/api/security/profile', { body }).catch(() => undefined);
  const leave = () =>
    signOut().catch(async (error) => {
      const { notifyFailed } = await import('~/components/notify');
      notifyFailed(t('stillSignedIn'), words(error));
    });
  return (
    <Menu width={220}>
      <Menu.Target>
        <UnstyledButton className={classes.user} aria-label={t('userMenu', { name: me.nickname || me.username })}>
          <span className={classes.userName}>{me.nickname || me.username}</span>
          <IconChevronDown size={14} stroke={1.6} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void navigate({ to: '/profile' })}>{t('place.profile')}</Menu.Item>
        <Menu.Divider />
        <Menu.RadioGroup
          value={colorScheme}
          onChange={(scheme) => {
            setColorScheme(scheme as Scheme);
            keep({ theme: scheme as Scheme });
          }}
        >
          {SCHEMES.map((scheme) => (
            <Menu.RadioItem key={scheme} value={scheme}>
              {t(`scheme.${scheme}`)}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.RadioGroup
          value={i18n.language}
          onChange={(language) => {
            void chooseLanguage(language as Language);
            keep({ language: language as Language });
          }}
        >
          {Object.entries(LANGUAGES).map(([language, name]) => (
            <Menu.RadioItem key={language} value={language} lang={language === 'zh' ? 'zh-Hans' : 'en'}>
              {name}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item onClick={() => void leave()}>{t('signOut')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
