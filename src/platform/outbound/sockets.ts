import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { type ClientRequest, request as overHttp, type RequestOptions } from 'node:http';
import { request as overHttps } from 'node:https';
import { connect, isIP, isIPv6, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';

/**
 * Asserts that a host is an IP address: given a name, a socket would resolve it itself, bypassing the outbound rules
 * and blocking a thread.
 */
function address(host: string): string {
  if (!isIP(host)) throw new TypeError(`${host} is not an address: resolve it by the outbound rules`);
  return host;
}

/** An unconnected UDP socket for the family of an address. @param host an address */
export const udpFor = (host: string): UdpSocket => createSocket(isIPv6(address(host)) ? 'udp6' : 'udp4');

/** @param host an address */
export const tcpTo = (host: string, port: number): Socket => connect({ host: address(host), port });

/** @param host an address; `servername` is the name in the certificate */
export const tlsTo = (host: string, port: number, options: Omit<ConnectionOptions, 'host' | 'port'>): TLSSocket =>
  connectTls({ ...options, host: address(host), port });

type Request = Omit<RequestOptions, 'host' | 'hostname' | 'lookup'>;

/** @param host an address */
export const httpTo = (host: string, options: Request): ClientRequest => overHttp({ ...options, host: address(host) });

/** @param host an address; `servername` is the name in the certificate */
export const httpsTo = (
  host: string,
  options: Request & Pick<ConnectionOptions, 'servername' | 'rejectUnauthorized'>,
): ClientRequest => overHttps({ ...options, host: address(host) });
