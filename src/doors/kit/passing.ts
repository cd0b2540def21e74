/** Conflicts that are over once somebody else is done: the client may send the same again. */
export const PASSING: ReadonlySet<unknown> = new Set([
  'record_unclear',
  'earlier_change_unclear',
  'changed_meanwhile',
  'busy',
  'in_flight_now',
]);
