import { directadmin } from '../../../src/providers/directadmin/declaration.js';
import {
  type Asked,
  type Course,
  hostIn,
  type ReplaySetup,
  shownValue,
  targetOf,
  unquoted,
} from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';

type Recorded = { type: string; name: string; value: string; combined: string; ttl?: string };
type Form = Record<string, string>;

const formOf = ({ body }: Asked): Form => (body ?? {}) as Form;
const CONTROL = '/CMD_API_DNS_CONTROL';
const isWrite = (asked: Asked) => asked.path === CONTROL && 'action' in formOf(asked);

/** Recorded 2019. */
export const setup: ReplaySetup = {
  definition: directadmin,
  recording: 'directadmin',
  base: '',
  credentials: (url) => ({ url, user: 'panel-user', login_key: 'a-login-key-for-the-tests' }),
  reads: (asked) => !isWrite(asked),
  listed({ path }, body, zone) {
    if (path !== CONTROL) return null;
    return (body as { records: Recorded[] }).records.map(({ type, name, value, ttl }) => {
      const [host, rdata] = type === 'MX' ? ['@', `${value} ${name}`] : [hostIn(name, zone), value];
      return { type, host, value: shownValue(type, rdata, zone), ttl: Number(ttl ?? 14400) };
    });
  },
};

/** A write in a body, whatever its method; which number the record has in it is the client's own choice. */
export function written(asked: Asked, _whose: 'recorded' | 'own', course: Course): Asked {
  const { json: _json, ...form } = { ...asked.query, ...formOf(asked) };
  if (asked.path !== CONTROL || !form.action) return asked;
  const value = form.type === 'TXT' ? unquoted(form.value ?? '') : targetOf(form.type, form.value ?? '', course);
  const parts = Object.entries({ ...form, ...('value' in form && { value }) });
  const body = Object.fromEntries(parts.map(([key, part]) => [key.replace(/recs\d+$/, 'recs0'), part]));
  return { ...asked, method: 'POST', query: {}, body };
}

/** The list of domains in JSON. */
export const domains = (answer: Answer, { path }: Asked): Answer =>
  path === '/CMD_API_SHOW_DOMAINS' ? { body: [...new URLSearchParams(String(answer.body)).values()] } : answer;

/** The zone after a write of the adapter: the list recorded last, with what the write did. */
export function after(asked: Asked, { asked: all, known }: Course): Answer | undefined {
  const write = all.findLast(isWrite);
  const records = known
    .map(({ response }) => (response.body as { records?: Recorded[] } | null)?.records)
    .findLast(Boolean);
  if (asked.path !== CONTROL || !write || !records) return undefined;
  const { action, type = '', name = '', value = '', ttl = '', ...named } = formOf(write);
  const made = { type, name, value, ttl, combined: `name=${name}&value=${value}` };
  const left = records.filter(({ combined }) => !Object.values(named).includes(combined));
  return { body: { records: action === 'select' ? left : [...left, made] } };
}
