import { Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { IconCheck, IconChevronDown } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { chooseLanguage, LANGUAGES, type Language } from '~/i18n';
import { signOut, useMe } from '~/session/session';
import classes from './shell.module.css';

const SCHEMES = ['auto', 'light', 'dark'] as const;

/** Who is signed in, and what is of this user alone. */
export function UserMenu() {
  const { t, i18n } = useTranslation('shell');
  const me = useMe();
  const navigate = useNavigate();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  // the choice is of the user, and follows to other browsers; here it counts at once
  const keep = (body: { language?: Language; theme?: (typeof SCHEMES)[number] }) =>
    void client.PUT('/api/security/profile', { body }).catch(() => undefined);
  const leave = async () => {
    await signOut();
    await navigate({ to: '/sign-in' });
  };
  return (
    <Menu withinPortal={false} width={220}>
      <Menu.Target>
        <UnstyledButton className={classes.user} aria-label={t('userMenu', { name: me.nickname || me.username })}>
          <span className={classes.userName}>{me.nickname || me.username}</span>
          <IconChevronDown size={14} stroke={1.6} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void navigate({ to: '/profile' })}>{t('place.profile')}</Menu.Item>
        <Menu.Divider />
        {SCHEMES.map((scheme) => (
          <Menu.Item
            key={scheme}
            role="menuitemradio"
            aria-checked={colorScheme === scheme}
            closeMenuOnClick={false}
            rightSection={colorScheme === scheme && <IconCheck size={14} aria-hidden />}
            onClick={() => {
              setColorScheme(scheme);
              keep({ theme: scheme });
            }}
          >
            {t(`scheme.${scheme}`)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        {Object.entries(LANGUAGES).map(([language, name]) => (
          <Menu.Item
            key={language}
            role="menuitemradio"
            aria-checked={i18n.language === language}
            lang={language === 'zh' ? 'zh-Hans' : 'en'}
            rightSection={i18n.language === language && <IconCheck size={14} aria-hidden />}
            onClick={() => {
              void chooseLanguage(language as Language);
              keep({ language: language as Language });
            }}
          >
            {name}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => void leave()}>{t('signOut')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
