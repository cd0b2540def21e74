import type { ProtocolAdapter } from '../../platform/http/protocol.js';
import { parseObject, tokenOf } from '../kit/requests.js';

/**
 * The protocol of lego's provider `httpreq`: it has no form of errors. Clients take a status of 400 and above for one,
 * and show the text to whoever runs them.
 */
export const HTTPREQ: ProtocolAdapter = {
  prefix: '/doors/httpreq',
  door: 'httpreq',
  parse: parseObject,
  strict: false,
  credential: tokenOf,
  success: (data) => data,
  failure({ status, message }, response) {
    if (status === 401) response.setHeader('WWW-Authenticate', 'Basic realm="Zoneward"');
    response.type('text/plain').send(message);
  },
};
