import { ActionIcon, Burger, Button, Drawer, Kbd, Tooltip } from '@mantine/core';
import { IconCode, IconKeyboard } from '@tabler/icons-react';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { forgetCalls } from '~/api/calls';
import { useEventStream } from '~/api/events';
import { Loading } from '~/components/state-block';
import { useEnded } from '~/session/ended';
import { useBootstrap } from '~/session/session';
import { Banner } from './banner';
import { Brand } from './brand';
import { useKeys } from './keys';
import { Navigation } from './navigation';
import { PLACES } from './places';
import classes from './shell.module.css';
import { UserMenu } from './user-menu';

const Palette = lazy(() => import('./palette'));
const KeysHelp = lazy(() => import('./keys-help'));
const ApiPanel = lazy(() => import('./api-panel'));
const SignInDialog = lazy(() => import('~/session/sign-in-dialog'));

/** The frame of all screens: navigation, bar, banners, dialogs. */
export function Shell() {
  const { t } = useTranslation('shell');
  const { settings } = useBootstrap();
  const navigate = useNavigate();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const isEnded = useEnded();
  const [open, setOpen] = useState<'palette' | 'keys' | 'rail' | null>(null);
  const [hasApi, setHasApi] = useState(false);
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEventStream();

  // biome-ignore lint/correctness/useExhaustiveDependencies: when the path changes
  useEffect(() => {
    // a new screen: its calls only, and the focus at its begin, as after a page was loaded
    forgetCalls();
    setOpen(null);
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
  }, [path]);

  useKeys({
    'mod+k': () => setOpen('palette'),
    '?': () => setOpen('keys'),
    '/': () => document.querySelector<HTMLInputElement>('[data-search]')?.focus(),
    c: () => setHasApi((shown) => !shown),
    ...Object.fromEntries(
      PLACES.filter(({ letter }) => letter).map(({ letter, to }) => [
        `g ${letter}`,
        () => void navigate({ to: to as never }),
      ]),
    ),
  });

  return (
    <div className={classes.shell}>
      <button type="button" className={classes.skip} onClick={() => main.current?.focus()}>
        {t('skip')}
      </button>
      <header className={classes.bar}>
        <Burger
          className={classes.burger}
          size="sm"
          opened={open === 'rail'}
          aria-label={t('navigation')}
          onClick={() => setOpen(open === 'rail' ? null : 'rail')}
        />
        <Link to="/" className={classes.brand}>
          <Brand name={settings.site_name} />
        </Link>
        <div className={classes.middle}>
          <Button
            variant="default"
            className={classes.find}
            onClick={() => setOpen('palette')}
            rightSection={<Kbd size="xs">Ctrl K</Kbd>}
            justify="space-between"
          >
            {t('palette.open')}
          </Button>
        </div>
        <Tooltip label={t('api.open')}>
          <ActionIcon
            variant={hasApi ? 'light' : 'subtle'}
            color={hasApi ? 'petrol' : 'gray'}
            aria-label={t('api.open')}
            aria-pressed={hasApi}
            onClick={() => setHasApi(!hasApi)}
          >
            <IconCode size={18} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={t('keys.title')}>
          <ActionIcon
            variant="subtle"
            color="gray"
            className={classes.keys}
            aria-label={t('keys.title')}
            onClick={() => setOpen('keys')}
          >
            <IconKeyboard size={18} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
        <UserMenu />
      </header>
      <div className={classes.rail}>
        <Navigation />
      </div>
      <Drawer.Root opened={open === 'rail'} onClose={() => setOpen(null)} size={240}>
        <Drawer.Overlay backgroundOpacity={0.35} />
        <Drawer.Content aria-label={t('navigation')}>
          <Drawer.Body p={0} pt="sm">
            <Navigation onGo={() => setOpen(null)} />
          </Drawer.Body>
        </Drawer.Content>
      </Drawer.Root>
      <div className={classes.content}>
        <Banner />
        <main id="main" ref={main} tabIndex={-1} className={classes.main}>
          <Suspense
            fallback={
              <div className={classes.loading}>
                <Loading />
              </div>
            }
          >
            <Outlet />
          </Suspense>
        </main>
        <Suspense fallback={null}>{hasApi && <ApiPanel onClose={() => setHasApi(false)} />}</Suspense>
      </div>
      <Suspense fallback={null}>
        {open === 'palette' && <Palette opened onClose={() => setOpen(null)} />}
        {open === 'keys' && <KeysHelp opened onClose={() => setOpen(null)} />}
        {isEnded && <SignInDialog />}
      </Suspense>
    </div>
  );
}
