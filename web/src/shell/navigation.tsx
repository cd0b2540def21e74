import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useMe } from '~/session/session';
import { GROUPS } from './places';
import classes from './shell.module.css';

/** The places of the console, as far as they are of use for this user. */
export function Navigation({ onGo }: { onGo?: () => void }) {
  const { t } = useTranslation('shell');
  const { role } = useMe();
  return (
    <nav aria-label={t('navigation')} className={classes.places}>
      {GROUPS.map(({ key, places }) => (
        <ul key={key} aria-label={t(`group.${key}`)}>
          {places
            .filter((place) => role >= place.role)
            .map(({ key: name, to, icon: Icon }) => (
              <li key={name}>
                <Link
                  to={to as never}
                  className={classes.place}
                  activeProps={{ 'aria-current': 'page' }}
                  activeOptions={{ exact: to === '/', includeSearch: false }}
                  onClick={() => onGo?.()}
                >
                  <Icon size={17} stroke={1.5} />
                  {t(`place.${name}`)}
                </Link>
              </li>
            ))}
        </ul>
      ))}
    </nav>
  );
}
