import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from './dialog';
import { ErrorText } from './error-text';

interface Props {
  opened: boolean;
  onClose: () => void;
  /** the question: `Delete the zone example.com?` */
  title: string;
  /** what it does, to what, and whether it can be undone */
  children: ReactNode;
  /** the verb on the button */
  verb: string;
  /** a name to be typed first: for what cannot be undone */
  typed?: string;
  /** does it; the dialog closes when it is done, and shows the failure when it is not */
  onConfirm: () => Promise<unknown>;
}

/** Asks before something is destroyed. */
export function ConfirmDestructive({ opened, onClose, title, children, verb, typed, onConfirm }: Props) {
  const { t } = useTranslation('common');
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const close = () => {
    setText('');
    setError(null);
    onClose();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      close();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog opened={opened} onClose={close} title={title}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <Text fz="md" component="div">
            {children}
          </Text>
          {typed !== undefined && (
            <TextInput
              label={t('typeToConfirm', { name: typed })}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              autoComplete="off"
              spellCheck={false}
              classNames={{ input: 'zw-mono' }}
              data-autofocus
            />
          )}
          <ErrorText error={error} />
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={close}>
              {t('cancel')}
            </Button>
            <Button type="submit" color="red" loading={busy} disabled={typed !== undefined && text.trim() !== typed}>
              {verb}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
