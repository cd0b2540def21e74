import { DomainFrame, useDomainId } from '~/screens/domains/domain-frame';
import { ChangeSet } from '~/screens/plans/change-set';
import { useUrlState } from '~/state/use-url-state';
import { BackLink } from './back-link';
import { Comparison } from './comparison';
import { Drift } from './drift';
import { VersionDetail } from './version-detail';
import { Versions } from './versions';

/** Versions of a domain; the address says which one, which two, or which change set is looked at. */
export function HistoryScreen() {
  const domain = useDomainId();
  const [{ version, from, to, set }] = useUrlState({ version: '', from: '', to: '', set: '' });
  return (
    <DomainFrame>
      {({ drift }) => {
        if (set)
          return (
            <>
              <BackLink />
              <ChangeSet key={set} domain={domain} id={Number(set)} />
            </>
          );
        if (from && to) return <Comparison key={`${from} ${to}`} from={Number(from)} to={Number(to)} />;
        if (version) return <VersionDetail key={version} version={Number(version)} />;
        return (
          <>
            {drift.mode !== 'adopt' && <Drift />}
            <Versions />
          </>
        );
      }}
    </DomainFrame>
  );
}
