import { FairPool } from './fair-pool.js';

/** Slots for streamed answers, held for as long as the client reads. */
export const downloads = new FairPool('downloads');
