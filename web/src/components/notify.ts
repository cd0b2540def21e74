import { notifications } from '@mantine/notifications';
import i18n from '~/i18n';

/** Tells of what happened to something that is no longer seen. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: 'petrol', closeButtonProps: { 'aria-label': i18n.t('common:close') } });
}

/** The same of a failure: stays until it is closed. */
export function notifyFailed(title: string, message: string): void {
  notifications.show({
    title,
    message,
    color: 'red',
    autoClose: false,
    closeButtonProps: { 'aria-label': i18n.t('common:close') },
  });
}
