import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { Events } from '../../src/platform/events/events.js';
import { SILENT } from '../support/silent.js';

describe('events', () => {
  it('run their listeners one after the other, in the order in which they registered', async () => {
    const events = new Events(SILENT);
    const heard: string[] = [];
    events.on('domain.created', async (id) => {
      await new Promise((resolve) => setImmediate(resolve));
      heard.push(`slow ${id}`);
    });
    events.on('domain.created', (id) => heard.push(`quick ${id}`));
    events.on('domains.removed', () => heard.push('another event'));
    await events.emit('domain.created', 7);
    assert.deepEqual(heard, ['slow 7', 'quick 7']);
  });

  it('hide the failure of a listener from the emitter and from other listeners', async () => {
    const events = new Events(SILENT);
    let heard = 0;
    events.on('mail.queued', () => {
      throw new Error('at once');
    });
    events.on('mail.queued', () => Promise.reject(new Error('later')));
    events.on('mail.queued', () => {
      heard += 1;
    });
    await events.emit('mail.queued');
    assert.equal(heard, 1);
  });
});
