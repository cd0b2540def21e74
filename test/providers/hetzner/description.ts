import type { Description } from '../contract/described.js';

export const description: Description = { file: 'hetzner-cloud' };
