import type { AppError } from '../../platform/common/errors.js';
import type { FieldError } from '../../platform/common/words/codes.js';
import type { ProtocolAdapter } from '../../platform/http/protocol.js';
import { parseObject, tokenOf } from '../kit/requests.js';

/** The words of acme-dns for what is wrong with a field. */
const WORDS: Record<string, string> = {
  body: 'malformed_json_payload',
  allowfrom: 'invalid_allowfrom_cidr',
  subdomain: 'bad_subdomain',
  txt: 'bad_txt',
};

/** What acme-dns calls it; what it has no word for is said in a sentence. */
function wordOf({ status, data, message }: AppError): string {
  if (status === 401) return 'forbidden';
  const [first] = (data as { errors?: FieldError[] } | undefined)?.errors ?? [];
  return (status === 400 && first && WORDS[first.path.split('.')[0] as string]) || message;
}

export const ACME_DNS: ProtocolAdapter = {
  prefix: '/doors/acme-dns',
  door: 'acme-dns',
  parse: parseObject,
  strict: false,
  credential: tokenOf,
  success: (data) => data,
  failure: (error, response) => void response.json({ error: wordOf(error) }),
};
