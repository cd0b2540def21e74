import { ActionIcon, Burger, Button, Kbd, useMantineColorScheme } from '@mantine/core';
import { IconCode, IconKeyboard } from '@tabler/icons-react';
import { Link, Outlet, useNavigate, useRouter, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { forgetCalls } from '~/api/calls';
import { useEventStream } from '~/api/events';
import { Loading } from '~/components/state-block';
import { loadAllWords } from '~/i18n';
import { showSchemeOfProfile } from '~/scheme';
import { useEnded } from '~/session/ended';
import { useBootstrap } from '~/session/session';
import { Banner } from './banner';
import { Brand } from './brand';
import { useKeys } from './keys';
import { Navigation } from './navigation';
import { PLACES } from './places';
import classes from './shell.module.css';
import { UserMenu } from './user-menu';

const PARTS = {
  palette: () => import('./palette'),
  keys: () => import('./keys-help'),
  api: () => import('./api-panel'),
  signIn: () => import('~/session/sign-in-dialog'),
  rail: () => import('./rail-drawer'),
  notices: () => import('./notices'),
  notify: () => import('~/components/notify'),
};
const Palette = lazy(PARTS.palette);
const KeysHelp = lazy(PARTS.keys);
const ApiPanel = lazy(PARTS.api);
const SignInDialog = lazy(PARTS.signIn);
const RailDrawer = lazy(PARTS.rail);
const Notices = lazy(PARTS.notices);

const QUIET_MS = 2000;

/** Whether the browser was told to load no more than is needed, which not all browsers can be. */
const savesData = (): boolean => (navigator as { connection?: { saveData?: boolean } }).connection?.saveData ?? false;

/** Loads the rest while nothing else is to be done: it is there when the network, or the service, is not. */
function useLoadedAhead(): void {
  const router = useRouter();
  useEffect(() => {
    if (savesData()) return;
    const timer = setTimeout(async () => {
      await loadAllWords();
      for (const load of Object.values(PARTS)) await load().catch(() => undefined);
      for (const route of Object.values(router.routesById)) await router.loadRouteChunk(route)?.catch(() => undefined);
    }, QUIET_MS);
    return () => clearTimeout(timer);
  }, [router]);
}

/** The scheme of the profile, unless another one was chosen in this browser. */
function useScheme(theme: 'auto' | 'light' | 'dark'): void {
  const { setColorScheme } = useMantineColorScheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the page is opened
  useEffect(() => showSchemeOfProfile(theme, setColorScheme), []);
}

/** The frame of all screens: navigation, bar, banners, dialogs. */
export function Shell() {
  const { t } = useTranslation('shell');
  const { settings, profile } = useBootstrap();
  const navigate = useNavigate();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const isEnded = useEnded();
  const [open, setOpen] = useState<'palette' | 'keys' | 'rail' | null>(null);
  const [hasApi, setHasApi] = useState(false);
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEventStream();
  useLoadedAhead();
  useScheme(profile.theme);

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
        <ActionIcon
          variant={hasApi ? 'light' : 'subtle'}
          color={hasApi ? 'petrol' : 'gray'}
          aria-label={t('api.open')}
          title={t('api.open')}
          aria-pressed={hasApi}
          onClick={() => setHasApi(!hasApi)}
        >
          <IconCode size={18} stroke={1.5} />
        </ActionIcon>
        <ActionIcon
          variant="subtle"
          color="gray"
          className={classes.keys}
          aria-label={t('keys.title')}
          title={t('keys.title')}
          onClick={() => setOpen('keys')}
        >
          <IconKeyboard size={18} stroke={1.5} />
        </ActionIcon>
        <UserMenu />
      </header>
      <div className={classes.rail}>
        <Navigation />
      </div>
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
        {open === 'rail' && <RailDrawer onClose={() => setOpen(null)} />}
        {open === 'keys' && <KeysHelp opened onClose={() => setOpen(null)} />}
        {isEnded && <SignInDialog />}
        <Notices />
      </Suspense>
    </div>
  );
}
