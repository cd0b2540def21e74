import { DomainFrame } from '~/screens/domains/domain-frame';
import { DomainSettings } from './settings/domain-settings';

export function DomainSettingsScreen() {
  return <DomainFrame>{(domain) => <DomainSettings key={domain.id} id={domain.id} />}</DomainFrame>;
}
