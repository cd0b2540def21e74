import { useSyncExternalStore } from 'react';

/** A call of the API that this screen made. */
export interface Call {
  id: number;
  method: string;
  /** with the query, below the address of the service */
  path: string;
  /** JSON without secrets; null: none */
  body: string | null;
  /** null: no answer yet, or none at all */
  status: number | null;
}

const KEPT = 20;
/** `config` of a channel, too: the address of a chat is all that is needed to write there. */
const SECRET = /password|passphrase|secret|token|code|credential|private|key|seed|response|^config$/i;

let calls: Call[] = [];
let next = 1;
const listeners = new Set<() => void>();

function tell(changed: Call[]): void {
  calls = changed;
  for (const listener of listeners) listener();
}

/** Replaces what may be secret in a body, at any depth: fields whose name says so. */
function withoutSecrets(value: unknown, isSecret = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, isSecret));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, withoutSecrets(item, isSecret || SECRET.test(key))]),
    );
  return isSecret && typeof value === 'string' ? '…' : value;
}

/** The body of a request as it may be shown. */
export function shownBody(text: string): string | null {
  try {
    return text ? JSON.stringify(withoutSecrets(JSON.parse(text))) : null;
  } catch {
    return null;
  }
}

/** Notes a call. @returns what tells how it was answered */
export function noteCall(method: string, path: string, body: string | null): (status: number) => void {
  const call: Call = { id: next++, method, path, body, status: null };
  tell([call, ...calls].slice(0, KEPT));
  return (status) => tell(calls.map((other) => (other.id === call.id ? { ...call, status } : other)));
}

/** Forgets the calls of the screen that is left. */
export const forgetCalls = (): void => tell([]);

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The call as a command line, with `$TOKEN` where the credential goes. */
export function asCurl({ method, path, body }: Call, base: string): string {
  const parts = ['curl', ...(method === 'GET' ? [] : ['-X', method]), quoted(base + path)];
  parts.push('-H "Authorization: Bearer $TOKEN"');
  if (body) parts.push("-H 'Content-Type: application/json'", '-d', quoted(body));
  return parts.join(' ');
}

/** The last calls of this screen, the newest first. */
export const useCalls = (): Call[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => calls,
  );
