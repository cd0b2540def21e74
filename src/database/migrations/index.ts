import { Foundation1763600000000 } from './1763600000000-foundation.js';
import { Identity1763700000000 } from './1763700000000-identity.js';
import { Access1763800000000 } from './1763800000000-access.js';

/** In order; the class name's number is the order TypeORM checks. */
export const MIGRATIONS = [Foundation1763600000000, Identity1763700000000, Access1763800000000];
