import { DomainFrame } from '~/screens/domains/domain-frame';
import { DomainSettings } from './settings/domain-settings';

export function DomainSettingsScreen() {
  return <DomainFrame>{(domain) => <DomainSettings id={domain.id} />}</DomainFrame>;
}
