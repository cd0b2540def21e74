import { RE2JS } from 're2js';
import { toAscii, zoneName } from '../dns/names.js';
import { errors, fieldError, InvalidRecord } from '../platform/common/errors.js';
import { costOf } from '../platform/common/patterns.js';
import { same } from '../platform/common/read-only.js';
import { type FieldError } from '../platform/common/words/codes.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import type { RemoteRule } from '../providers/tunnels.js';

/** A rule as a client gives it. */
export interface RuleInput {
  hostname?: string | null;
  path?: string | null;
  service: string;
  /** left out: as the rule of the same hostname and path has it; null: none */
  originRequest?: Record<string, unknown> | null;
}

/** What answers requests that no rule is for. */
const CATCH_ALL: RemoteRule = { service: 'http_status:404' };
/** bytes of all rules, and of the hostnames that a change touches: MariaDB's texts end a little behind */
export const MAX_BYTES = 60_000;
/** what compiling the paths of all rules may cost: a tenth of a second or so, in which the event loop is blocked */
const MAX_COST = 40_000;
const MAX_SECONDS = 86_400;

type Test = (value: unknown) => boolean;
const isText: Test = (value) => typeof value === 'string' && value.length <= 1024;
const isFlag: Test = (value) => typeof value === 'boolean';
const isList: Test = (value) => Array.isArray(value) && value.length <= 100;
const isCount =
  (max: number): Test =>
  (value) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max;
const isAccess: Test = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { required = false, teamName = '', audTag = [], ...more } = value as Record<string, unknown>;
  return (
    isFlag(required) && isText(teamName) && isList(audTag) && (audTag as unknown[]).every(isText) && same(more, {})
  );
};

const SECONDS: [Test, FieldText] = [
  isCount(MAX_SECONDS),
  say('must be a whole number of seconds, 0 to {max}: cloudflared reads no other', { max: MAX_SECONDS }),
];
const COUNT: [Test, FieldText] = [isCount(65_535), 'must be a whole number from 0 to 65535'];
const FLAG: [Test, FieldText] = [isFlag, 'must be true or false'];
const TEXT: [Test, FieldText] = [isText, 'must be text of at most 1024 characters'];
/** What cloudflared reads of `originRequest` (source of 2026.8). */
const ORIGIN: Record<string, [Test, FieldText]> = {
  connectTimeout: SECONDS,
  tlsTimeout: SECONDS,
  tcpKeepAlive: SECONDS,
  keepAliveTimeout: SECONDS,
  keepAliveConnections: COUNT,
  proxyPort: COUNT,
  noHappyEyeballs: FLAG,
  matchSNItoHost: FLAG,
  noTLSVerify: FLAG,
  http2Origin: FLAG,
  disableChunkedEncoding: FLAG,
  bastionMode: FLAG,
  httpHostHeader: TEXT,
  originServerName: TEXT,
  caPool: TEXT,
  proxyAddress: TEXT,
  proxyType: [(value) => value === '' || value === 'socks', 'must be "" or "socks"'],
  access: [isAccess, 'must be {required, teamName, audTag: []}'],
  ipRules: [isList, 'must be a list'],
};

/** What a rule has that may be set here; all else of it is kept as it is. */
const KNOWN = ['hostname', 'path', 'service', 'originRequest'];

const keyOf = ({ hostname, path }: Pick<RemoteRule, 'hostname' | 'path'>) => JSON.stringify([hostname, path]);
const isCatchAll = ({ hostname, path }: Pick<RemoteRule, 'hostname' | 'path'>) => !hostname && !path;

/**
 * Rules as cloudflared takes them, judged as it judges them; the last one, which answers all else, is added where it is
 * missing. Hostnames come out as A-labels.
 * @param held the rules that the tunnel has: their unknown fields are kept
 * @throws AppError 400001 naming all that is wrong
 */
export function readIngress(input: readonly RuleInput[], held: readonly RemoteRule[] = []): RemoteRule[] {
  const wrong: FieldError[] = [];
  const known = new Map(held.map((rule) => [keyOf(rule), rule]));
  if (!fits(input)) throw tooLarge();
  const pathOf = pathReader();
  const rules = input.map((rule, i) => {
    const at = `ingress.${i}`;
    // what the provider holds may be sent back, whatever it is
    const as = known.get(keyOf(named({ hostname: rule.hostname ?? '', path: rule.path ?? '' })));
    const asIs = rule.originRequest === undefined || same(as?.originRequest, rule.originRequest);
    if (as && as.service === rule.service && asIs) return as;
    const read = <T>(otherwise: T, body: () => T): T => {
      try {
        return body();
      } catch (error) {
        if (!(error instanceof InvalidRecord)) throw error;
        wrong.push(...error.mistakes);
        return otherwise;
      }
    };
    const hostname = read('x', () => hostnameOf(rule.hostname ?? '', `${at}.hostname`));
    const path = read('x', () => pathOf(rule.path ?? '', `${at}.path`));
    const service = read('x', () => serviceOf(rule.service, `${at}.service`));
    const { originRequest: old, ...rest } = known.get(keyOf(named({ hostname, path }))) ?? ({} as Partial<RemoteRule>);
    const given = rule.originRequest === undefined ? (old as RuleInput['originRequest']) : rule.originRequest;
    if (rule.originRequest) wrong.push(...originMistakes(rule.originRequest, old ?? {}, `${at}.originRequest`));
    const more = Object.entries(rest).filter(([key]) => !KNOWN.includes(key));
    const originRequest = given && Object.keys(given).length ? { originRequest: given } : {};
    return { ...named({ hostname, path }), service, ...originRequest, ...Object.fromEntries(more) } as RemoteRule;
  });
  for (const [i, rule] of rules.entries()) {
    if (i === rules.length - 1 || !isCatchAll(rule)) continue;
    const words = 'is needed, or a path: only the last rule answers everything, and no rule behind this one would ever';
    wrong.push(fieldError(`ingress.${i}.hostname`, words, 'required'));
  }
  if (wrong.length) throw errors.validation(wrong);
  const last = rules.at(-1);
  const whole = last && isCatchAll(last) ? rules : [...rules, CATCH_ALL];
  if (!fits(whole)) throw tooLarge();
  return whole;
}

const tooLarge = () =>
  errors.field('ingress', say('is larger than {max} bytes', { max: MAX_BYTES }), 'length', { max: MAX_BYTES });

const named = (fields: { hostname: string; path: string }): { hostname?: string; path?: string } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));

export const fits = (list: readonly unknown[]): boolean => Buffer.byteLength(JSON.stringify(list)) <= MAX_BYTES;

/** Rules as a provider holds them, "all" written in one way. @throws AppError 409001: more than are kept */
export function heldRules(rules: readonly RemoteRule[]): RemoteRule[] {
  const held = rules.map(({ hostname = '', path = '', ...rest }) => ({
    ...named({ hostname: hostname === '*' ? '' : hostname, path }),
    ...rest,
  }));
  if (!fits(held)) throw errors.conflict('tunnel_rules_large', { max: MAX_BYTES });
  return held;
}

/** A rule as answers show it. */
export const shownRule = ({ hostname, path, service, originRequest }: RemoteRule) => ({
  ...(hostname && { hostname }),
  ...(path && { path }),
  service,
  ...(originRequest !== undefined && { originRequest: originRequest as Record<string, unknown> }),
});

/** The hostnames of rules, each once: all that a CNAME could lead to. */
export const hostnamesOf = (rules: readonly RemoteRule[]): string[] => [
  ...new Set(rules.flatMap(({ hostname }) => (hostname ? [hostname] : []))),
];

/** @returns '' for all names */
function hostnameOf(input: string, path: string): string {
  const text = input.trim();
  if (text === '' || text === '*') return '';
  if (text.includes(':')) throw new InvalidRecord(path, 'must be without a port and a scheme');
  const ascii = toAscii(text).replace(/\.$/, '');
  const rest = ascii.startsWith('*.') ? ascii.slice(2) : ascii;
  if (rest.includes('*'))
    throw new InvalidRecord(path, 'may have a "*" only as its whole first label, "*.example.com"');
  zoneName(rest, path);
  return ascii;
}

/** Reads the paths of one list of rules: the same one is compiled once. */
function pathReader(): (text: string, path: string) => string {
  const mistakes = new Map<string, FieldText | ''>([['', '']]);
  let cost = 0;
  const mistakeIn = (text: string): FieldText | '' => {
    const own = costOf(text);
    if (cost + own > MAX_COST)
      return 'is too long to compile, with those before it: write smaller repetitions or ranges';
    cost += own;
    try {
      // the syntax is that of Go, which cloudflared compiles it with
      RE2JS.compile(text);
      return '';
    } catch (error) {
      return say('is no regular expression of RE2: {reason}', { reason: (error as Error).message });
    }
  };
  return (text, path) => {
    const mistake = mistakes.get(text) ?? mistakeIn(text);
    mistakes.set(text, mistake);
    if (mistake) throw new InvalidRecord(path, mistake);
    return text;
  };
}

const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/(\[[0-9a-f:.]+\]|[^\s/?#@:[\]]+)(?::(\d{1,5}))?(.*)$/i;

function serviceOf(input: string, path: string): string {
  const text = input.trim();
  if (text === 'bastion' || text === 'socks-proxy') return text;
  const refuse = (words: FieldText): never => {
    throw new InvalidRecord(path, words);
  };
  if (text === 'hello_world') refuse('is for tunnels whose rules are in a file beside cloudflared');
  const [, status] = /^http_status:(.*)$/.exec(text) ?? [];
  if (status !== undefined) return /^[1-9]\d\d$/.test(status) ? text : refuse('must have a status from 100 to 999');
  if (/^unix(\+tls)?:/.test(text)) return /^unix(\+tls)?:\/[^\s]*$/.test(text) ? text : refuse('must be unix:/path');
  const mistake = addressMistake(text);
  return mistake === null ? text : refuse(mistake);
}

function addressMistake(text: string): FieldText | null {
  const [all, , port, rest] = ADDRESS.exec(text) ?? [];
  if (all === undefined)
    return 'must be a scheme and a host, such as http://localhost:8080, or http_status:404, unix:/path, bastion';
  if (port !== undefined && Number(port) > 65_535) return 'has a port above 65535';
  if (rest?.startsWith('/')) return 'must be without a path: cloudflared hands on that of the request';
  return rest ? 'has more behind the host than a port' : null;
}

/** What is wrong with settings of an origin; values that are stored already are accepted as they are. */
function originMistakes(given: Record<string, unknown>, old: unknown, at: string): FieldError[] {
  return Object.entries(given).flatMap(([key, value]) => {
    if (same(value, (old as Record<string, unknown>)[key])) return [];
    const rule = Object.hasOwn(ORIGIN, key) ? ORIGIN[key] : undefined;
    if (!rule) return [fieldError(`${at}.${key}`, 'is not a known field', 'unknown', { values: Object.keys(ORIGIN) })];
    const [test, words] = rule;
    return test(value) ? [] : [fieldError(`${at}.${key}`, words)];
  });
}
