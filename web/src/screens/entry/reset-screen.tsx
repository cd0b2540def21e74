import { EntryFrame } from './entry-frame';

export function ResetScreen() {
  return <EntryFrame title="Reset">…</EntryFrame>;
}
