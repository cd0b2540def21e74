import { Anchor, Button, Divider, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { quietClient } from '~/api/client';
import { ErrorText } from '~/components/error-text';
import { type SignedIn, siteOptions } from './session';
import { needsCode, passkeysWork, signInByPasskey, signInByPassword } from './sign-in';

interface Props {
  onSignedIn: (result: SignedIn) => void;
  /** the name that is meant, where it is known */
  username?: string;
  /** in a dialog nothing may lead away from the page */
  stays?: boolean;
  /** where to go on after a sign-in elsewhere */
  back?: string;
}

/** Sign-in by password with its second step, by passkey, or elsewhere. */
export function SignInForm({ onSignedIn, username = '', stays = false, back }: Props) {
  const { t } = useTranslation('session');
  const { data: site } = useQuery(siteOptions);
  const [name, setName] = useState(username);
  const [password, setPassword] = useState('');
  const [code, setCode] = useState<string | null>(null);
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const done = useRef(onSignedIn);
  done.current = onSignedIn;
  const waiting = useRef<AbortController | null>(null);
  const hasPasskeys = Boolean(site?.sign_in.passkeys) && passkeysWork();

  useEffect(() => {
    if (!hasPasskeys) return;
    const stop = new AbortController();
    waiting.current = stop;
    signInByPasskey(true, stop.signal).then(
      (result) => !stop.signal.aborted && result && done.current(result),
      (error) => !stop.signal.aborted && setProblem(error),
    );
    return () => stop.abort();
  }, [hasPasskeys]);

  const run = async (what: string, work: () => Promise<SignedIn | null>) => {
    setBusy(what);
    setProblem(null);
    try {
      const result = await work();
      if (result) done.current(result);
    } catch (error) {
      if (needsCode(error)) setCode('');
      else setProblem(error);
    } finally {
      setBusy(null);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run('password', () => signInByPassword(name, password, code ?? undefined));
  };
  const elsewhere = (key: string) =>
    run(key, async () => {
      if (back) sessionStorage.setItem('zoneward.back', back);
      const { data } = await quietClient.POST('/api/auth/oauth/start', { body: { provider: key } });
      if (data) location.assign(data.auth_url);
      return null;
    });

  if (code !== null)
    return (
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label={t('code')}
            description={t('codeHint')}
            autoComplete="one-time-code"
            value={code}
            onChange={(event) => setCode(event.currentTarget.value)}
            data-autofocus
            autoFocus
            required
          />
          <ErrorText error={problem} />
          <Button type="submit" size="sm" loading={busy === 'password'}>
            {t('goOn')}
          </Button>
          <Anchor component="button" type="button" fz="sm" onClick={() => setCode(null)}>
            {t('otherName')}
          </Anchor>
        </Stack>
      </form>
    );
  return (
    <Stack gap="sm">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label={t('name')}
            autoComplete={hasPasskeys ? 'username webauthn' : 'username'}
            autoCapitalize="none"
            spellCheck={false}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            readOnly={stays && username !== ''}
            autoFocus={!username}
            required
          />
          <PasswordInput
            label={t('password')}
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            autoFocus={username !== ''}
            data-autofocus={username !== '' || undefined}
            visibilityToggleButtonProps={{ 'aria-label': t('showPassword'), tabIndex: 0 }}
            required
          />
          <ErrorText error={problem} />
          <Button type="submit" size="sm" loading={busy === 'password'}>
            {t('signIn')}
          </Button>
        </Stack>
      </form>
      {(hasPasskeys || (site?.sign_in.oauth.length ?? 0) > 0) && !(stays && !hasPasskeys) && (
        <Divider label={t('or')} labelPosition="center" />
      )}
      {hasPasskeys && (
        <Button
          variant="default"
          size="sm"
          leftSection={<IconKey size={16} stroke={1.5} />}
          loading={busy === 'passkey'}
          onClick={() => {
            // what waits in the list would end this one, should it begin later
            waiting.current?.abort();
            void run('passkey', () => signInByPasskey(false));
          }}
        >
          {t('byPasskey')}
        </Button>
      )}
      {!stays &&
        site?.sign_in.oauth.map(({ key, name: provider }) => (
          <Button key={key} variant="default" size="sm" loading={busy === key} onClick={() => elsewhere(key)}>
            {t('by', { name: provider })}
          </Button>
        ))}
      {site?.sign_in.passkeys && !window.isSecureContext && (
        <Text fz="xs" c="dimmed">
          {t('insecure')}
        </Text>
      )}
    </Stack>
  );
}
