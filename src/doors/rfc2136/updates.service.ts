import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/access.js';
import { doorOf } from '../../changes/change-sets.js';
import { Places } from '../../changes/edits/edit.js';
import { ChangeEngine } from '../../changes/engine.service.js';
import { mayRead } from '../../changes/history/who.js';
import type { Result } from '../../changes/results.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { ProviderError } from '../../providers/kit/http/errors.js';
import { editsOf } from './edits-of-update.js';
import type { Update } from './update.js';

/** times that an update is made while others write its sets at the provider */
const ATTEMPTS = 3;

/** Carries dynamic updates out, each as one list of the change engine. */
@Injectable()
export class DnsUpdates {
  constructor(
    private readonly engine: ChangeEngine,
    private readonly places: Places,
  ) {}

  /**
   * Carries an update out as a whole: its prerequisites are judged by what the provider holds, under the locks of all
   * its names, and nothing is changed where one of them does not hold, or one step is not taken.
   * @throws DnsFault when a prerequisite does not hold; AppError 400001, 403001, 409001, …; ProviderError
   */
  async apply(me: Caller, domain: OpenDomain, update: Update): Promise<void> {
    const place = await this.places.of(domain);
    const { types } = place.definition.capabilities;
    const written = keysOf(stepsIn(update), types);
    const sets = [...written, ...keysOf(update.prerequisites, types)];
    const hosts = [...new Set([...stepsIn(update), ...update.prerequisites].map(({ host }) => host))];
    const edits = {
      hosts,
      sets: [...new Map(sets.map((key) => [`${key.host} ${key.type}`, key])).values()],
      of: (rows: Parameters<typeof editsOf>[3]) => editsOf(place, domain, update, rows, mayRead(me, domain)),
    };
    const options = { door: doorOf(me), comment: '', atomic: true, only: written };
    for (let attempt = 1; ; attempt++) {
      const { results } = await this.engine.whole(me, domain, edits, options, place.connection);
      // somebody wrote there between our reading and the write
      if (attempt < ATTEMPTS && isOutrun(results)) continue;
      const failed = results.find((result) => !result.ok);
      if (!failed || failed.ok) return;
      const { error } = failed;
      throw results.some(isWritten) && error instanceof ProviderError ? error.applied(true) : error;
    }
  }
}

const stepsIn = ({ steps }: Update): { host: string; type: string | null }[] =>
  steps.map((step) => {
    if ('record' in step) return step.record;
    return { host: step.host, type: 'type' in step ? step.type : null };
  });

/** A set of a zone. */
interface Key {
  host: string;
  type: string;
  line: string;
}

/** The sets that are meant, of a name as a whole all that there can be. */
function keysOf(list: readonly { host: string; type: string | null }[], types: readonly string[]): Key[] {
  const keys = list.flatMap(({ host, type }) =>
    (type === null ? types : [type]).map((one) => ({ host, type: one, line: 'default' })),
  );
  return [...new Map(keys.map((key) => [`${key.host} ${key.type}`, key])).values()];
}

/** Whether a change was made, or may have been. */
const isWritten = (result: Result): boolean => (result.ok ? result.written : result.state === 'unknown');

const isOutrun = (results: readonly Result[]): boolean =>
  results.some((result) => !result.ok && result.error.status === 412) && !results.some(isWritten);
