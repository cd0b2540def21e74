import { EntryFrame } from './entry-frame';

export function CallbackScreen() {
  return <EntryFrame title="Callback">…</EntryFrame>;
}
