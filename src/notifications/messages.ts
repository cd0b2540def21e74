import { createHmac } from 'node:crypto';
import type { StoredChannel } from '../settings/channels.js';
import { oneLine } from './templates.js';

/** A notice as it is sent to a channel. */
export interface Message {
  /** the same at each try, so that a receiver recognises a repetition */
  delivery: string;
  event: string;
  text: string;
  domain: string | null;
  details: Record<string, string | number | null>;
  /** when it happened */
  time: string;
  /** the same for people, of an old notice; not in the JSON of webhooks */
  late?: string;
  /** name of the installation */
  site: string;
}

/** A POST of JSON. */
interface Outgoing {
  url: string;
  headers: Record<string, string>;
  body: string;
}

const hmac = (key: string, text: string) => createHmac('sha256', key).update(text);

/** The message for people, on one line. */
const lineOf = ({ site, event, text, late }: Message): string =>
  `[${oneLine(site)}] ${event}${late ? ` (${late})` : ''}: ${text}`;
/** The same where `<` begins a mention of somebody, or of everybody. */
const unmarked = (message: Message): string => lineOf(message).replaceAll('<', '＜');

const post = (url: string, body: object, headers: Record<string, string> = {}): Outgoing => ({
  url,
  headers: { 'content-type': 'application/json', 'user-agent': 'zoneward', ...headers },
  body: JSON.stringify(body),
});

type Writer = (config: Record<string, string | null>, message: Message, at: number) => Outgoing;

/** what Slack would make bold, struck out or code; it knows no way to write these as they are */
const MRKDWN: Record<string, string> = { '*': '＊', '~': '～', '`': '｀' };

/** what Discord would make bold, a link or a quotation of */
const MARKDOWN = /[\\`*_~|#>[\]()]/g;

/**
 * The requests of each type of channel: plain text, so that nothing in a notice mentions somebody or becomes a link.
 */
const WRITERS: Record<Exclude<StoredChannel['type'], 'email'>, Writer> = {
  webhook: ({ url, secret }, { late: _late, ...message }, at) => {
    const timestamp = String(Math.floor(at / 1000));
    const request = post(String(url), message, {
      'x-zoneward-event': message.event,
      'x-zoneward-delivery': message.delivery,
      'x-zoneward-timestamp': timestamp,
    });
    if (secret)
      request.headers['x-zoneward-signature'] = `sha256=${hmac(secret, `${timestamp}.${request.body}`).digest('hex')}`;
    return request;
  },
  telegram: ({ api_url, token, chat_id }, message) =>
    post(`${String(api_url).replace(/\/+$/, '')}/bot${token}/sendMessage`, {
      chat_id,
      text: lineOf(message),
      link_preview_options: { is_disabled: true },
    }),
  slack: ({ url }, message) => {
    const line = lineOf(message).replace(/[*~`]/g, (mark) => MRKDWN[mark] as string);
    const text = line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    return post(String(url), { text, mrkdwn: false, unfurl_links: false });
  },
  discord: ({ url }, message) =>
    post(String(url), { content: lineOf(message).replace(MARKDOWN, '\\$&'), allowed_mentions: { parse: [] } }),
  dingtalk: ({ url, secret }, message, at) => {
    const address = new URL(String(url));
    if (secret) {
      address.searchParams.set('timestamp', String(at));
      address.searchParams.set('sign', hmac(secret, `${at}\n${secret}`).digest('base64'));
    }
    return post(address.href, { msgtype: 'text', text: { content: lineOf(message) }, at: { isAtAll: false } });
  },
  feishu: ({ url, secret }, message, at) => {
    const timestamp = String(Math.floor(at / 1000));
    // Feishu signs an empty text with this key
    const signed = secret && { timestamp, sign: hmac(`${timestamp}\n${secret}`, '').digest('base64') };
    return post(String(url), { ...signed, msg_type: 'text', content: { text: unmarked(message) } });
  },
  wecom: ({ url }, message) => post(String(url), { msgtype: 'text', text: { content: unmarked(message) } }),
};

/** The request that sends a message to a channel. @param at ms, the time that is signed */
export const outgoing = ({ type, config }: StoredChannel, message: Message, at: number): Outgoing =>
  WRITERS[type as keyof typeof WRITERS](config as Record<string, string | null>, message, at);

/** What error messages must not repeat: secrets, and the parts of addresses that hold one. */
export function secretsOf({ type, config }: StoredChannel): string[] {
  const { url, secret, token } = config as Record<string, string | null>;
  if (!url || type === 'webhook') return [secret ?? '', token ?? ''];
  const { host, hostname } = new URL(url);
  const parts = url.split(/[/?&=]/).slice(3);
  return [secret ?? '', token ?? '', url, host, hostname, ...parts.filter((part) => part.length >= 8)];
}

/** What an answer says: whether it accepts the message (where its status does, too), and how it describes an error. */
type Told = [accepted: boolean, code?: unknown, words?: unknown];
const ofErrcode = ({ errcode, errmsg }: Record<string, unknown>): Told => [errcode === 0, errcode, errmsg];
const TOLD: Partial<Record<string, (body: Record<string, unknown>, text: string) => Told>> = {
  dingtalk: ofErrcode,
  wecom: ofErrcode,
  feishu(body) {
    const code = body.code ?? body.StatusCode;
    return [code === 0, code, body.msg ?? body.StatusMessage];
  },
  telegram: ({ ok, error_code, description }) => [ok === true, error_code, description],
  discord: ({ code, message }) => [true, code, message],
  slack: (_body, text) => [true, undefined, /^\w{1,64}$/.test(text) ? text : undefined],
};

/**
 * Why a message was refused, by the field of the answer in which the vendor describes errors, and nothing else of it:
 * somebody who sets an address must not read arbitrary pages here. Null: it was accepted. Several vendors refuse with
 * the status 200.
 */
export function refusal({ type }: StoredChannel, status: number, text: string): string | null {
  const [accepted, code, words]: Told = TOLD[type]?.(parsed(text), text) ?? [true];
  if (accepted && status >= 200 && status < 300) return null;
  return [typeof words === 'string' && words, code !== undefined && `code ${Number(code)}`, `HTTP ${status}`]
    .filter(Boolean)
    .join(', ');
}

function parsed(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
