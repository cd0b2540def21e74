import type { Description } from '../contract/described.js';

export const description: Description = {
  file: 'huawei-dns',
  beyond: { '/v2.1/system-lines': 'cut out of the model; it is in the documentation (ListSystemLines)' },
  wrong: [{ where: /HttpStatusCode is missing/, reason: 'the client itself puts it into its answers' }],
};
