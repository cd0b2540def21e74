import { EntryFrame } from './entry-frame';

export function SetupScreen() {
  return <EntryFrame title="Setup">…</EntryFrame>;
}
