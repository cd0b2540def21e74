import type { FrontDoor } from '../../access/doors.js';
import type { ProtocolAdapter } from '../../platform/http/protocol.js';
import { failureBody } from '../../platform/http/protocol.js';
import { parseObject, tokenOf } from '../kit/requests.js';

/**
 * What the clients of another panel speak: its envelope looks like ours, but the ids of its records are texts, and what
 * a body holds beside what is known is left aside. They put `/api` behind the address that they are given.
 */
const panel = (door: FrontDoor): ProtocolAdapter => ({
  prefix: `/doors/${door}`,
  door,
  parse: parseObject,
  strict: false,
  credential: tokenOf,
  success: (data) => ({ code: 0, data: data ?? null, msg: 'success' }),
  failure: (error, response) => void response.json(failureBody(error)),
});

export const DDNS_GO = panel('ddns-go');
export const CERTD = panel('certd');
