import { isIP } from 'node:net';
import type { Cidr } from '../platform/common/cidr.js';
import { timeoutSignal } from '../platform/common/clock.js';
import { resolveAllowed } from '../platform/outbound/guard.js';
import { OutboundError } from '../platform/outbound/outbound-error.js';
import { isEmail } from '../settings/checks.js';
import type { Documents } from '../settings/documents.js';
import { MailError, mailError } from './mail-error.js';
import { oneLine, type RenderedMail } from './templates.js';

/** ms for connection and greeting, and of silence in between */
const CONNECT_MS = 8_000;
const SILENCE_MS = 20_000;

/** A mail to be sent. */
interface Delivery {
  to: string;
  mail: RenderedMail;
  /** left part of the Message-ID; the same at each try, so that a duplicate can be recognised */
  id?: string;
  /** secrets of the mail that error messages must not repeat */
  secrets?: readonly string[];
}

/** `Name <a@b>` or `a@b` in parts, so that no parser finds more in it than one address. */
function mailbox(text: string): { name: string; address: string } {
  const [, name = '', address = text] = /^([^<]*)<([^<>]+)>$/.exec(text) ?? [];
  return { name: oneLine(name), address: oneLine(address) };
}

/**
 * Hands a mail to the mail server, within `limitMs`. Certificates are verified against the public authorities and
 * NODE_EXTRA_CA_CERTS.
 * @param smtp with the password in plain text
 * @throws MailError
 */
export async function deliver(
  smtp: Documents['smtp'],
  deny: readonly Cidr[],
  { to, mail, id, secrets = [] }: Delivery,
  limitMs: number,
): Promise<void> {
  const server = `${smtp.host}:${smtp.port}`;
  if (!isEmail(to)) throw new MailError('The recipient is no mail address', true);
  if (smtp.username && !smtp.password) throw new MailError('A password is needed for the user name', false);
  const signal = timeoutSignal(limitMs);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new MailError(`${server} was not found in time`, false)));
  });
  try {
    const address = await Promise.race([resolveAllowed(smtp.host, deny), late]);
    // loaded with the first mail, since many installations send none
    const { createTransport } = await import('nodemailer');
    // the address was checked; the certificate must still match the name
    const certificateName = isIP(smtp.host) ? {} : { servername: smtp.host, tls: { servername: smtp.host } };
    const login = smtp.username ? { auth: { user: smtp.username, pass: smtp.password ?? '' } } : {};
    const transport = createTransport({
      host: address,
      port: smtp.port,
      secure: smtp.security === 'tls',
      requireTLS: smtp.security === 'starttls',
      ignoreTLS: smtp.security === 'none',
      ...certificateName,
      ...login,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    const from = mailbox(smtp.from);
    const messageId = id ? { messageId: `<${id}@${from.address.split('@')[1]}>` } : {};
    try {
      await transport.sendMail({
        from,
        to: { name: '', address: to },
        ...mail,
        ...messageId,
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        xMailer: false,
        signal,
      });
    } finally {
      transport.close();
    }
  } catch (error) {
    if (error instanceof OutboundError) throw new MailError(error.message, false);
    throw mailError(error, server, [...secrets, ...credentials(smtp)]);
  }
}

/** The password in plain text and in its encodings on the wire. */
function credentials({ username, password }: Documents['smtp']): string[] {
  if (!password) return [];
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return [password, base64(password), base64(`\0${username}\0${password}`)];
}
