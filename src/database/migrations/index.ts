import { Foundation1763600000000 } from './1763600000000-foundation.js';

/** In order; the class name's number is the order TypeORM checks. */
export const MIGRATIONS = [Foundation1763600000000];
