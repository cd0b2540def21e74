import { $api } from '~/api/query';
import { Role, useMay } from '~/session/session';
import { RemoteSelect } from './remote-select';

interface Props {
  label: string;
  /** its id, as the address has it; '': any */
  value: string;
  onChange: (id: string) => void;
}

/** One account, to narrow a list by; only administrators see accounts. */
export function AccountFilter({ label, value, onChange }: Props) {
  const isAdmin = useMay(Role.Admin);
  const account = Number(value) || null;
  const { data: known } = $api.useQuery(
    'get',
    '/api/accounts/{id}',
    { params: { path: { id: account ?? 0 } } },
    { enabled: isAdmin && account !== null },
  );
  if (!isAdmin) return null;
  return (
    <RemoteSelect
      of="/api/accounts"
      size="xs"
      w={170}
      aria-label={label}
      placeholder={label}
      clearable
      value={account}
      known={known && account === known.id ? { id: known.id, name: known.name } : undefined}
      onChange={(id) => onChange(id === null ? '' : String(id))}
    />
  );
}
