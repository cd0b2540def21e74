import '@mantine/notifications/styles.layer.css';
import { Notifications } from '@mantine/notifications';

/** The corner that notices appear in. */
export default function Notices() {
  return <Notifications position="bottom-right" limit={4} />;
}
