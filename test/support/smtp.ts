import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A received mail. */
export interface Arrived {
  from: string;
  to: string[];
  /** Lower-case names in order of arrival; folded lines joined, encoded words not decoded. */
  headers: [name: string, value: string][];
  subject: string;
  text: string;
  html: string;
  raw: string;
}

/** A certificate for some names and its authority, in files of a temporary folder. */
export interface Certificate {
  ca: string;
  key: Buffer;
  cert: Buffer;
}

/** Throw-away certificates. */
export function makeCertificates(): { issue(name: string): Certificate; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'zoneward-certificates-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const ca = ['-CA', 'ca.pem', '-CAkey', 'ca.key'];
  openssl('req', '-x509', ...fresh, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=Test authority');
  return {
    issue(name) {
      const out = ['-keyout', `${name}.key`, '-out', `${name}.pem`, '-days', '2'];
      openssl('req', '-x509', ...ca, ...fresh, ...out, '-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`);
      const read = (file: string) => readFileSync(join(folder, file));
      return { ca: join(folder, 'ca.pem'), key: read(`${name}.key`), cert: read(`${name}.pem`) };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Behaviour of the server; may be changed while it runs. */
export interface Behaviour {
  /** Answer to a recipient, such as `550 no such user`; null: accepted. */
  recipient(address: string): string | null;
  /** Answer to a login; null: accepted. */
  login(user: string, password: string): string | null;
  /** ms before it answers to the end of a message. */
  slow: number;
}

export interface SmtpOptions extends Partial<Behaviour> {
  security?: 'none' | 'starttls' | 'tls';
  certificate?: Certificate;
  /** Whether a login is required, which `login` then decides. */
  authentication?: boolean;
  port?: number;
  host?: string;
}

export interface Smtp {
  port: number;
  mails: Arrived[];
  /** Encryption and user of the connections that delivered mails. */
  sessions: { secure: boolean; user: string | undefined }[];
  behaviour: Behaviour;
  stop(): Promise<void>;
}

/** `550 text` as an error for smtp-server. */
const refusal = (answer: string | null): Error | null =>
  answer === null ? null : Object.assign(new Error(answer.slice(4)), { responseCode: Number(answer.slice(0, 3)) });

/** A real mail server on loopback that keeps received mails. */
export async function startSmtp(options: SmtpOptions = {}): Promise<Smtp> {
  const { security = 'none', certificate, authentication = false, port = 0, host = '127.0.0.1', ...more } = options;
  const behaviour: Behaviour = { recipient: () => null, login: () => null, slow: 0, ...more };
  const mails: Arrived[] = [];
  const sessions: Smtp['sessions'] = [];
  const wait = new AbortController();
  const hidden = [...(security === 'starttls' ? [] : ['STARTTLS']), ...(authentication ? [] : ['AUTH'])];
  const handlers: SMTPServerOptions = {
    onAuth({ username, password }, _session, done) {
      const error = refusal(behaviour.login(username ?? '', password ?? ''));
      if (error) done(error);
      else done(null, { user: username ?? '' });
    },
    onRcptTo: ({ address }, _session, done) => done(refusal(behaviour.recipient(address))),
    async onData(stream, { envelope, secure, user }, done) {
      let raw = '';
      try {
        for await (const chunk of stream.setEncoding('utf8')) raw += chunk;
      } catch {
        return; // cut off in the middle of the message
      }
      // a closed connection gets no answer, and its mail was not accepted
      await sleep(behaviour.slow, undefined, { signal: wait.signal }).catch(() => undefined);
      if (wait.signal.aborted) return;
      mails.push({
        from: envelope.mailFrom ? envelope.mailFrom.address : '',
        to: envelope.rcptTo.map(({ address }) => address),
        ...parsed(raw),
        raw,
      });
      sessions.push({ secure, user });
      done();
    },
  };
  const server = new SMTPServer({
    ...handlers,
    secure: security === 'tls',
    key: certificate?.key,
    cert: certificate?.cert,
    authOptional: !authentication,
    allowInsecureAuth: security === 'none',
    disabledCommands: hidden,
    disableReverseLookup: true,
    closeTimeout: 100,
    logger: false,
  });
  server.on('error', () => undefined); // closed connections, or clients that refused our certificate
  const listening = await new Promise<AddressInfo>((resolve) => {
    const listener = server.listen(port, host, () => resolve(listener.address() as AddressInfo));
  });
  return {
    port: listening.port,
    mails,
    sessions,
    behaviour,
    stop() {
      wait.abort();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

const parts = (raw: string) => {
  const end = raw.indexOf('\r\n\r\n');
  const headers = raw
    .slice(0, end)
    .replace(/\r\n(?=[ \t])/g, '')
    .split('\r\n')
    .map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    });
  return { headers, body: raw.slice(end + 4) };
};

/** Decoded text of a MIME part. */
function decoded({ headers, body }: ReturnType<typeof parts>): string {
  const encoding = new Map(headers).get('content-transfer-encoding');
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return body;
  return quoted(body.replace(/=\r\n/g, ''));
}

const quoted = (text: string): string =>
  Buffer.from(
    text.replace(/=([0-9A-F]{2})/g, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8');

/** Decodes RFC 2047 words. */
export const decodedWords = (text: string): string =>
  text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([BQ])\?([^?]*)\?=/gi, (_all, kind, word) =>
      kind.toUpperCase() === 'B' ? Buffer.from(word, 'base64').toString('utf8') : quoted(word.replaceAll('_', ' ')),
    );

function parsed(raw: string): Pick<Arrived, 'headers' | 'subject' | 'text' | 'html'> {
  const { headers, body } = parts(raw);
  const header = new Map(headers);
  const boundary = /boundary="([^"]+)"/.exec(header.get('content-type') ?? '')?.[1] ?? '-';
  const [text, html] = body
    .split(`--${boundary}`)
    .slice(1, 3)
    .map((part) => decoded(parts(part.replace(/^\r\n/, ''))));
  const normal = (value = '') => value.replaceAll('\r\n', '\n').trim();
  return { headers, subject: decodedWords(header.get('subject') ?? ''), text: normal(text), html: normal(html) };
}
