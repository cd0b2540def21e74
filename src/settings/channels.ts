import type { Cidr } from '../platform/common/cidr.js';
import { errors, fieldError } from '../platform/common/errors.js';
import { randomHex } from '../platform/common/hash.js';
import { type FieldError } from '../platform/common/words/codes.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import type { SecretBox } from '../platform/config/secret-box.js';
import type { NoticeEvent } from '../platform/events/events.js';
import { assertUrlAllowed } from '../platform/outbound/guard.js';
import type { ChannelConfigInput, ChannelInput, ChannelType, ChannelView } from './channels.dto.js';

interface Field {
  required?: boolean;
  /** stored encrypted, never shown */
  secret?: boolean;
  /** where the other secrets are sent */
  address?: boolean;
  fallback?: string;
}

const HOOK: Field = { required: true, secret: true, address: true };
const SECRET: Field = { secret: true };

/** The configuration fields of each type. */
const FIELDS: Record<ChannelType, Record<string, Field>> = {
  email: { to: { required: true } },
  webhook: { url: { required: true, address: true }, secret: SECRET },
  telegram: {
    api_url: { address: true, fallback: 'https://api.telegram.org' },
    token: { required: true, secret: true },
    chat_id: { required: true },
  },
  slack: { url: HOOK },
  discord: { url: HOOK },
  dingtalk: { url: HOOK, secret: SECRET },
  feishu: { url: HOOK, secret: SECRET },
  wecom: { url: HOOK },
};

type Value = string | string[] | null;

/** As stored: secrets are encrypted. */
export interface StoredChannel {
  id: string;
  type: ChannelType;
  name: string;
  enabled: boolean;
  events: NoticeEvent[];
  /** each field of the type, null where it has no value */
  config: Record<string, Value>;
}

const CONTEXT = 'settings.notifications';
const secretsOf = ({ type }: { type: ChannelType }) =>
  Object.entries(FIELDS[type]).flatMap(([name, { secret }]) => (secret ? [name] : []));

/** The fields that are secret in a channel of some type, with the context of their encryption. */
export const CHANNEL_SECRETS: Record<string, string> = Object.fromEntries(
  Object.keys(FIELDS).flatMap((type) => secretsOf({ type: type as ChannelType }).map((name) => [name, CONTEXT])),
);

/** The secrets of channels as they are stored. */
export const sealedIn = (channels: readonly StoredChannel[]): (string | null)[] =>
  channels.flatMap((channel) => secretsOf(channel).map((name) => (channel.config[name] ?? null) as string | null));

/** A channel with its secrets in plain text. */
export function opened(channel: StoredChannel, box: SecretBox): StoredChannel {
  const plain = secretsOf(channel).map((name) => {
    const sealed = channel.config[name] as string | null;
    return [name, sealed && box.decrypt(sealed, CONTEXT)];
  });
  return { ...channel, config: { ...channel.config, ...Object.fromEntries(plain) } };
}

/** What is shown of a secret: whether there is one; in the audit log also whether it differs from `former`. */
export const shownSecret = (name: string, sealed: unknown, former?: unknown): Record<string, boolean> => ({
  [`${name}_set`]: sealed !== null,
  ...(former !== undefined && former !== sealed && { [`${name}_changed`]: true }),
});

/**
 * A channel as answers and the audit log show it: of secrets only whether there is one.
 * @param former its state before, for the audit log, which shows which secrets changed
 */
export function channelView(
  { id, type, name, enabled, config, events }: StoredChannel,
  former?: StoredChannel,
): ChannelView {
  const shown = Object.entries(FIELDS[type]).map(([field, { secret }]) => {
    const value = config[field] ?? null;
    return secret ? shownSecret(field, value, former?.config[field]) : { [field]: value ?? undefined };
  });
  return { id, type, name, enabled, config: Object.assign({}, ...shown), events };
}

/** What addresses are judged by, and secrets sealed with. */
interface ChannelTools {
  box: SecretBox;
  deny: readonly Cidr[];
  allow: readonly Cidr[];
}

/**
 * The list of channels that a request asks for. A channel is known by its id and type; of a known one, secrets that are
 * left out stay.
 * @throws AppError 400001 naming all that is wrong with each
 */
export function nextChannels(
  old: readonly StoredChannel[],
  input: readonly ChannelInput[],
  tools: ChannelTools,
): StoredChannel[] {
  const wrong: FieldError[] = [];
  const ids = new Set<string>();
  const channels = input.map((channel, i) => {
    const { type, name, enabled = true, events = [] } = channel;
    const id = channel.id ?? randomHex(6);
    if (ids.has(id)) wrong.push(fieldError(`channels.${i}.id`, 'is that of another channel, too', 'duplicate'));
    ids.add(id);
    const known = old.find((one) => one.id === id && one.type === type);
    const config = nextConfig(type, known, channel.config, `channels.${i}.config`, wrong, tools);
    return { id, type, name, enabled, events, config };
  });
  if (wrong.length) throw errors.validation(wrong);
  return channels;
}

type Tell = (field: string, words: FieldText, code: FieldError['code']) => void;

/** Tells of fields that the type does not have, and of `…_set` that is not as it is stored. */
function tellStrange(
  type: ChannelType,
  given: Record<string, unknown>,
  known: StoredChannel | undefined,
  tell: Tell,
): void {
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const [, of] = /^(.+)_set$/.exec(key) ?? [];
    const field = FIELDS[type][of ?? key];
    if (!field || (of && !field.secret))
      tell(key, say('is no field of a channel of the type {type}', { type }), 'unknown');
    else if (of && known && value !== ((known.config[of] ?? null) !== null))
      tell(key, 'follows from what is stored', 'read_only');
  }
}

/** Tells why a channel must not send to an address. */
function tellAddress(field: string, url: string, isShown: boolean, { deny, allow }: ChannelTools, tell: Tell): void {
  if (isShown && new URL(url).search)
    tell(field, 'must not have a query, since it is shown: sign with a secret instead', 'format');
  try {
    assertUrlAllowed(url, deny, allow);
  } catch (error) {
    tell(field, say('is not allowed: {reason}', { reason: (error as Error).message }), 'format');
  }
}

function nextConfig(
  type: ChannelType,
  known: StoredChannel | undefined,
  input: ChannelConfigInput,
  path: string,
  wrong: FieldError[],
  tools: ChannelTools,
): StoredChannel['config'] {
  const { box } = tools;
  const fields = FIELDS[type];
  const given = input as unknown as Record<string, Value | boolean | undefined>;
  const tell: Tell = (field, ...what) => {
    wrong.push(fieldError(`${path}.${field}`, ...what));
  };
  tellStrange(type, given, known, tell);
  const before = known && opened(known, box).config;
  const after = Object.fromEntries(
    Object.entries(fields).map(([name, { secret, fallback }]) => {
      const kept = secret ? (before?.[name] ?? null) : null;
      return [name, (given[name] === undefined ? kept : (given[name] as Value)) ?? fallback ?? null];
    }),
  );
  const [address] = Object.entries(fields).find(([, field]) => field.address) ?? [];
  const moved = address !== undefined && after[address] !== before?.[address];
  for (const [name, { required, secret }] of Object.entries(fields)) {
    if (required && after[name] === null)
      tell(name, say('is needed for a channel of the type {type}', { type }), 'required');
    else if (moved && secret && name !== address && given[name] === undefined && after[name] !== null)
      tell(
        name,
        say('must be sent again when {field} changes: it would go to somebody else', { field: address }),
        'required',
      );
  }
  if (moved && after[address]) tellAddress(address, after[address] as string, !fields[address]?.secret, tools, tell);
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => {
      if (!fields[name]?.secret || value === null) return [name, value];
      return [name, value === before?.[name] ? (known?.config[name] ?? null) : box.encrypt(value as string, CONTEXT)];
    }),
  );
}
