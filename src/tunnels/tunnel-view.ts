import { errors } from '../platform/common/errors.js';
import { assertConditions, type Conditions, entityTag } from '../platform/http/conditions.js';
import { shownRule } from './ingress.js';
import type { TunnelView } from './tunnel.dto.js';
import type { TunnelRow } from './tunnels.repository.js';
import { unmanagedView } from './unmanaged.js';

const MAX_ERROR = 1000;

/** An error as a tunnel's row keeps it. */
export const wordsOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, MAX_ERROR);

/** A tunnel as the API shows it. */
export function tunnelView(row: TunnelRow): TunnelView {
  const { id, account_id, remote_account, tunnel_id, name, state, status, connections, ingress, version } = row;
  const { dns_managed, last_error, hold_reason, created_at } = row;
  const unmanaged = row.unmanaged.map(unmanagedView);
  const at = { id, account_id, cloudflare_account: remote_account, tunnel_id, name, state, status, connections };
  const rules = { ingress: ingress.map(shownRule), version, dns_managed, unmanaged };
  return { ...at, ...rules, last_error, hold_reason, created_at };
}

/** The same for the audit log: without what only the provider changes. */
export const tunnelState = (row: TunnelRow) => stateOf(tunnelView(row));

function stateOf({ status: _s, connections: _c, last_error: _e, hold_reason: _h, ...state }: TunnelView) {
  return state;
}

/** The entity tag of a tunnel: of its configuration, not of its connections. */
export const tunnelTag = (view: TunnelView): string => entityTag(stateOf(view), view);

/** @throws AppError 412001 where the tunnel is not what the caller has seen */
export function assertSeen(conditions: Conditions, row: TunnelRow): void {
  const tunnel = tunnelView(row);
  assertConditions(conditions, tunnelTag(tunnel), { tunnel });
}

/** 409001: another tunnel has the name. @param known the one that is known here */
export function nameTaken(name: string, known?: TunnelRow) {
  if (!known) return errors.taken('name', 'tunnel_name_at_provider', { name });
  const { id, state } = known;
  if (state === 'ready') return errors.taken('name', 'tunnel_name_known', { name, id }, { id });
  return errors.taken('name', 'tunnel_name_unready', { name, id, state }, { id });
}
