import type { Description } from '../contract/described.js';

export const description: Description = {
  file: 'google-cloud-dns',
  beyond: { '/token': 'the server of tokens is another one (RFC 6749, RFC 7523)' },
};
