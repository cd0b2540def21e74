import { type Caller, signedIn } from './access.js';

/** The stored maker of a delayed action: a user, and the token if one was used. */
export interface Maker {
  /** null: unknown. */
  maker_id: number | null;
  maker_token_id: number | null;
}

/** The maker for what this caller creates. */
export function makerOf(caller: Caller): Maker {
  const { userId, token } = signedIn(caller);
  return { maker_id: userId, maker_token_id: token?.id ?? null };
}
