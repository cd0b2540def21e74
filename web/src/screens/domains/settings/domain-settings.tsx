import { useTranslation } from 'react-i18next';
import { Loaded } from '~/components/state-block';
import { Theirs } from '~/components/theirs';
import classes from '../domains.module.css';
import { ApprovalSection } from './approval-section';
import { type Base, useBase } from './base';
import { DeleteSection } from './delete-section';
import { DriftSection } from './drift-section';
import { FreezeSection } from './freeze-section';
import { GeneralSection } from './general-section';
import { GuardsSection } from './guards-section';
import { MoveSection } from './move-section';
import { PermissionsSection } from './permissions-section';
import { WindowsSection } from './windows-section';

/** All that can be set of a domain. */
export function DomainSettings({ id }: { id: number }) {
  const base = useBase(id);
  return <Loaded query={base}>{(seen) => <Sections key={seen.tagged.generation} base={seen} />}</Loaded>;
}

function Sections({ base }: { base: Base }) {
  const { t } = useTranslation('domains');
  const { permission, write_hosts, can_delete: isOwner } = base.domain;
  const mayWrite = permission === 'write' && write_hosts === null;
  return (
    <div className={classes.form}>
      {!isOwner && (
        <div className="zw-notice" role="note">
          {mayWrite ? t('settings.notOwner') : t('settings.readOnly')}
        </div>
      )}
      <Theirs of={base.tagged} />
      <fieldset disabled={!mayWrite} className={classes.fields}>
        <GeneralSection base={base} mayWrite={mayWrite} />
      </fieldset>
      <fieldset disabled={!isOwner} className={classes.fields}>
        <GuardsSection base={base} isOwner={isOwner} />
        <ApprovalSection base={base} isOwner={isOwner} />
        <FreezeSection base={base} isOwner={isOwner} />
        <WindowsSection base={base} isOwner={isOwner} />
        <DriftSection base={base} isOwner={isOwner} />
      </fieldset>
      {isOwner && (
        <>
          <PermissionsSection domain={base.domain} />
          <MoveSection domain={base.domain} />
          <DeleteSection domain={base.domain} />
        </>
      )}
    </div>
  );
}
