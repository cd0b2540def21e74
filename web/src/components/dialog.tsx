import { CloseButton, Group, Modal, type ModalRootProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

interface Props extends Omit<ModalRootProps, 'title'> {
  title: string;
  /** false: there is no way but through it */
  closable?: boolean;
  children: ReactNode;
}

/** A dialog. Its head is no landmark, its button to close has a name. */
export function Dialog({ title, closable = true, children, ...root }: Props) {
  const { t } = useTranslation('common');
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
