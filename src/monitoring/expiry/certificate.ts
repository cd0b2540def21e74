import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { after } from '../../platform/common/clock.js';
import { storable } from '../../platform/outbound/outbound-error.js';
import { tlsTo } from '../../platform/outbound/sockets.js';

const LIMIT_MS = 10_000;

/** A certificate as a host shows it; `error`: why a browser would not believe it. */
export interface Seen {
  valid_from: string;
  valid_to: string;
  issuer: string | null;
  error: string | null;
}

/**
 * The certificate that a host shows at an address, also an invalid one: the end of an expired certificate matters, too.
 * @throws Error when none is shown
 */
export function certificateOf(host: string, address: string, port: number): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const socket = tlsTo(address, port, { servername: host, rejectUnauthorized: false });
    const fail = (error: Error) => {
      cancel();
      socket.destroy();
      reject(error);
    };
    const cancel = after(LIMIT_MS, () => fail(new Error('it takes too long')));
    socket.on('error', fail);
    socket.once('close', () => fail(new Error('the connection was closed')));
    socket.once('secureConnect', () => {
      const peer = socket.getPeerCertificate(false);
      const [from, to] = [peer.valid_from, peer.valid_to].map((text) => Date.parse(text ?? ''));
      if (!from || !to) return fail(new Error('it shows no certificate'));
      const why = socket.authorizationError as unknown as string | Error | null;
      const wrong = why ? String((why as { code?: string }).code ?? why) : checkServerIdentity(host, peer)?.message;
      cancel();
      resolve({
        valid_from: new Date(from).toISOString(),
        valid_to: new Date(to).toISOString(),
        issuer: issuerOf(peer),
        error: wrong ? storable(wrong).slice(0, 255).toWellFormed() : null,
      });
      socket.destroy();
    });
  });
}

function issuerOf({ issuer }: PeerCertificate): string | null {
  const name = [issuer?.CN ?? issuer?.O].flat().find(Boolean);
  return name ? storable(name).slice(0, 255).toWellFormed() : null;
}
