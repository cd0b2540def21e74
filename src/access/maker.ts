import { type Caller, signedIn } from './access.js';

/** Who made something that acts later, as it is stored with it: a user, and the token where it was made by one. */
export interface Maker {
  /** null: nobody is known */
  maker_id: number | null;
  maker_token_id: number | null;
}

/** The maker of what a caller makes now. */
export function makerOf(caller: Caller): Maker {
  const { userId, token } = signedIn(caller);
  return { maker_id: userId, maker_token_id: token?.id ?? null };
}
