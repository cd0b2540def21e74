import type { OpenDomain } from '../domains/domain-policy.js';
import type { ListOptions } from './change-sets.js';
import type { Edits } from './planner.js';

/** A list that its caller wants to be told of, and not carried out: thrown where it would begin. */
export class DryRun extends Error {
  constructor(
    readonly domain: OpenDomain,
    readonly edits: Edits,
    readonly options: ListOptions,
  ) {
    super('a dry run');
  }
}
