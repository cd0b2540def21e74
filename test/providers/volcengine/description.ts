import type { Description } from '../contract/described.js';

export const description: Description = {
  file: 'volcengine-dns',
  wrong: [
    {
      where: /([\d\]]|UpdateRecord: request)\.Remark is not described/,
      reason: 'the same model writes it, and other clients read it (as of 2026)',
    },
  ],
};
