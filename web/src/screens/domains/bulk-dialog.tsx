import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from '~/components/dialog';
import { useErrorWords } from '~/components/error-text';
import type { Domain } from './domains';
import classes from './domains.module.css';

interface Props {
  title: string;
  verb: string;
  domains: readonly Domain[];
  destroys?: boolean;
  /** what it does, and what is to be chosen for it */
  children: ReactNode;
  /** all that is needed for it is chosen */
  isReady?: boolean;
  work: (domain: Domain) => Promise<unknown>;
  /** after the last one, and when it was stopped */
  onEnd: () => Promise<unknown>;
  onClose: () => void;
}

interface Failed {
  domain: Domain;
  words: string;
}

const AT_ONCE = 4;

/** Does one thing to many domains: asks, shows how far it is, and which of them it failed for, and why. */
export function BulkDialog({ title, verb, domains, destroys, children, isReady = true, work, onEnd, onClose }: Props) {
  const { t } = useTranslation('domains');
  const wordsOf = useErrorWords();
  const [phase, setPhase] = useState<'asks' | 'runs' | 'ended'>('asks');
  const [done, setDone] = useState(0);
  const [failed, setFailed] = useState<Failed[]>([]);
  const isStopped = useRef(false);
  const total = domains.length;

  const run = async (event: FormEvent) => {
    event.preventDefault();
    setPhase('runs');
    const left = [...domains];
    const one = async () => {
      for (let domain = left.shift(); domain && !isStopped.current; domain = left.shift()) {
        const meant = domain;
        await work(meant).catch((error) =>
          setFailed((before) => [...before, { domain: meant, words: wordsOf(error) }]),
        );
        setDone((count) => count + 1);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
    setPhase('ended');
    await onEnd();
  };
  const close = () => {
    isStopped.current = true;
    onClose();
  };
  return (
    <Dialog opened onClose={close} title={title} closable={phase !== 'runs'}>
      <form onSubmit={run}>
        <Stack gap="md">
          {phase === 'asks' ? (
            children
          ) : (
            <div>
              <Text fz="sm" role="status">
                {t('bulk.done', { done, total })}
              </Text>
              <Progress value={total ? (100 * done) / total : 100} aria-label={title} mt={4} />
            </div>
          )}
          {failed.length > 0 && (
            <ul className={classes.list} aria-label={t('bulk.failed')}>
              {failed.map(({ domain: { id, unicode_name }, words }) => (
                <li key={id}>
                  <span className="zw-mono">{unicode_name}</span>: {words}
                </li>
              ))}
            </ul>
          )}
          <Group justify="flex-end" gap="sm">
            {phase === 'runs' ? (
              <Button variant="default" onClick={() => (isStopped.current = true)}>
                {t('bulk.stop')}
              </Button>
            ) : (
              <Button variant="default" onClick={close}>
                {phase === 'ended' ? t('common:close') : t('common:cancel')}
              </Button>
            )}
            {phase === 'asks' && (
              <Button type="submit" disabled={!isReady} {...(destroys && { color: 'red' })}>
                {verb}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
