import { oneLine } from './templates.js';

/** Why a mail was not accepted, for administrators: without credentials and secrets of the mail. */
export class MailError extends Error {
  /** @param permanent the same mail would be refused again */
  constructor(
    message: string,
    readonly permanent: boolean,
  ) {
    super(message);
  }
}

/** A failure as nodemailer reports it. */
interface Failure {
  code?: string;
  /** of the system or of TLS */
  originalCode?: string;
  message: string;
  /** the SMTP command that failed */
  command?: string;
  responseCode?: number;
  response?: string;
}

const MAX_WORDS = 300;

/** Failures of the certificate, as OpenSSL and Node name them. */
const CERTIFICATE = /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(GET|VERIFY|DECODE)|INVALID_CA|HOSTNAME_)/;
const UNREACHABLE = /^(EHOST|ENET|EADDR|EACCES|EPERM)/;

/**
 * A failure in plain words.
 * @param server `host:port`
 * @param secrets are cut out of what the server said
 */
export function mailError(error: unknown, server: string, secrets: readonly string[]): MailError {
  if (error instanceof MailError) return error;
  const failure = error as Failure;
  return new MailError(explanation(failure, server, words(failure.response ?? '', secrets)), isPermanent(failure));
}

/**
 * Whether the recipient or the message was refused. Refusals of the login or of the sender concern the settings, which
 * can be corrected.
 */
function isPermanent({ command, responseCode = 0 }: Failure): boolean {
  const mine = command === 'RCPT TO' || command === 'DATA';
  return mine && responseCode >= 500 && ![503, 530, 535, 538].includes(responseCode);
}

/** The server's response without secrets, on one line. */
export function words(response: string, secrets: readonly string[]): string {
  let text = response;
  // longest first: one secret may be a part of another
  for (const secret of secrets.filter(Boolean).toSorted((a, b) => b.length - a.length))
    text = text.replaceAll(secret, '***');
  text = oneLine(text);
  return text.length > MAX_WORDS ? `${text.slice(0, MAX_WORDS)}…` : text;
}

function explanation(failure: Failure, server: string, said: string): string {
  return unreached(failure, server) ?? loginRefused(failure, server, said) ?? mailRefused(failure, server, said);
}

/** Why nothing was said over the connection; null: something was. */
function unreached({ code = '', originalCode = '', message }: Failure, server: string): string | null {
  const name = `The mail server ${server}`;
  if (code === 'ETIMEDOUT' || code === 'EABORT')
    return `${name} did not answer in time; check host, port and whether the port expects TLS from the first byte`;
  if (CERTIFICATE.test(originalCode)) return `The certificate of ${server} is not trusted: ${oneLine(message)}`;
  if (originalCode === 'EPROTO' || /^ERR_SSL|^ERR_TLS/.test(originalCode))
    return `TLS with ${server} failed; check whether the port expects TLS from the first byte or STARTTLS`;
  if (originalCode === 'ECONNREFUSED') return `${name} cannot be reached: connection refused`;
  if (UNREACHABLE.test(originalCode)) return `${name} cannot be reached: ${originalCode}`;
  return null;
}

/** Why the server knows nobody yet; null: it does, or demands no login. */
function loginRefused(
  { code = '', command = '', responseCode = 0 }: Failure,
  server: string,
  said: string,
): string | null {
  const name = `The mail server ${server}`;
  if (command === 'STARTTLS' || code === 'ETLS')
    return responseCode ? `${name} does not offer STARTTLS: ${said}` : `TLS with ${server} failed`;
  if (responseCode === 530 || responseCode === 538)
    return `${name} demands ${/tls/i.test(said) ? 'STARTTLS' : 'a login (user name and password)'}: ${said}`;
  if (code === 'EAUTH')
    return responseCode ? `${name} refused user name or password: ${said}` : `${name} offers no login that fits`;
  return null;
}

function mailRefused({ code = '', command = '', responseCode = 0 }: Failure, server: string, said: string): string {
  const name = `The mail server ${server}`;
  if (command === 'RCPT TO' && responseCode)
    return `${name} ${responseCode < 500 ? 'put off' : 'refused'} the recipient: ${said}`;
  if (command === 'MAIL FROM' && responseCode) return `${name} refused the sender: ${said}`;
  if (command === 'DATA' && responseCode) return `${name} refused the message: ${said}`;
  if (code === 'EPROTOCOL') return `What answers at ${server} is no mail server`;
  if (code === 'ECONNECTION' || code === 'ESOCKET') return `${name} closed the connection${said && `: ${said}`}`;
  return `The mail could not be handed to ${server}${said && `: ${said}`}`;
}
