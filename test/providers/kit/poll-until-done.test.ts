import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { withinDeadline } from '../../../src/providers/kit/http/deadline-context.js';
import { pollUntilDone } from '../../../src/providers/kit/http/poll-until-done.js';
import { ProviderError } from '../../../src/providers/provider.js';

describe('pollUntilDone', () => {
  const times = { first: 1, longest: 2, patience: 10_000 };
  const running = (job: string) => job.startsWith('running');

  it('ends when the job has ended, successfully or not', async () => {
    const states = ['running 2', 'running 3', 'failed'];
    const asked: string[] = [];
    const look = async (job: string) => {
      asked.push(job);
      return states.shift() as string;
    };
    assert.equal(await pollUntilDone('running 1', running, look, times), 'failed');
    assert.deepEqual(asked, ['running 1', 'running 2', 'running 3']);
    assert.equal(await pollUntilDone('done', running, () => assert.fail('nothing to look at')), 'done');
  });

  it('says `mayHaveApplied` when polling fails or the deadline comes first', async () => {
    const refused = () => Promise.reject(new ProviderError('rate_limit', 'later', false));
    const late = { mayHaveApplied: true, late: 'once' };
    await assert.rejects(pollUntilDone('running', running, refused, times), { kind: 'rate_limit', ...late });
    const still = async (job: string) => job;
    const impatient = { ...times, patience: 5 };
    await assert.rejects(pollUntilDone('running', running, still, impatient), { kind: 'unavailable', ...late });
    const bounded = withinDeadline(performance.now() + 5, () => pollUntilDone('running', running, still, times));
    await assert.rejects(bounded, { kind: 'unavailable', ...late });
  });
});
