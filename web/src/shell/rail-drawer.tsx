import { Drawer } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Navigation } from './navigation';

/** The navigation on narrow screens. */
export default function RailDrawer({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('shell');
  return (
    <Drawer.Root opened onClose={onClose} size={240}>
      <Drawer.Overlay backgroundOpacity={0.35} />
      <Drawer.Content aria-label={t('navigation')}>
        <Drawer.Body p={0} pt="sm">
          <Navigation onGo={onClose} />
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}
