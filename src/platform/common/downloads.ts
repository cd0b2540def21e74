import { FairPool } from './fair-pool.js';

/** Places for answers that go on for as long as their client reads. */
export const downloads = new FairPool('downloads');
