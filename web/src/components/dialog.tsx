import { CloseButton, Group, Modal, type ModalRootProps } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';

interface Props extends Omit<ModalRootProps, 'title'> {
  title: string;
  /** false: there is no way but through it */
  closable?: boolean;
  children: ReactNode;
}

/**
 * The focus goes back to what had it before the dialog, or to the content of the screen where that has gone meanwhile.
 * Mantine gives it back only where a dialog stays behind, closed.
 */
function useFocusBack(opened: boolean): void {
  const before = useRef<Element | null>(null);
  // while it is drawn: afterwards the focus is within
  if (opened && !before.current) before.current = document.activeElement;
  useEffect(() => {
    if (!opened) return;
    return () => {
      const from = before.current;
      before.current = null;
      setTimeout(() => {
        if (document.activeElement !== document.body) return;
        const to = from?.isConnected && from !== document.body ? from : document.getElementById('main');
        (to as HTMLElement | null)?.focus({ preventScroll: true });
      });
    };
  }, [opened]);
}

/** A dialog. Its head is no landmark, its button to close has a name. */
export function Dialog({ title, closable = true, children, ...root }: Props) {
  const { t } = useTranslation('common');
  useFocusBack(root.opened);
  return (
    <Modal.Root centered closeOnEscape={closable} closeOnClickOutside={false} {...root}>
      <Modal.Overlay backgroundOpacity={0.35} />
      <Modal.Content>
        <Group justify="space-between" wrap="nowrap" px="md" pt="md" pb="sm">
          <Modal.Title fz="lg" fw={600}>
            {title}
          </Modal.Title>
          {closable && <CloseButton aria-label={t('close')} onClick={root.onClose} />}
        </Group>
        <Modal.Body px="md" pb="md">
          {children}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
