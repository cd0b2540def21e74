import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret, text } from '../provider.js';

const FOLDER = text('folder_id', 'Folder ID', {
  example: 'b1g0example0folder00',
  help: 'Of the folder with the zones: b1g…',
});
const KEY = 'The JSON of an authorized key of a service account. The role "dns.editor" of the folder is enough.';
const TOKEN = secret('token', 'OAuth or IAM token', {
  help: 'Of a user. An IAM token (t1.…) ends after twelve hours.',
});
/** Yandex Cloud DNS API v1: record sets without ids, changes that are carried out whole. */
export const yandexcloud = defineProvider({
  kind: 'yandexcloud',
  label: 'Yandex Cloud DNS',
  docs: 'https://yandex.cloud/docs/dns/api-ref/',
  api: 'https://dns.api.cloud.yandex.net/dns/v1',
  credentials: [
    [secret('authorized_key', 'Authorized key', { multiline: true, help: KEY }), FOLDER],
    [TOKEN, FOLDER],
  ],
  capabilities: { types: [...RECORD_TYPES, 'PTR', 'SVCB', 'HTTPS'], ...SETS, atomic: true },
  // no limit is documented
  limits: { requests: 10 },
  load: () => import('./yandexcloud.provider.js'),
});
