import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, jest } from '@jest/globals';
import type { Caller } from '../../src/access/access.js';
import type { AuditEntry, AuditService } from '../../src/audit/audit.service.js';
import { StrangersLog } from '../../src/audit/strangers-log.service.js';
import { SILENT } from '../support/silent.js';

const MINUTE = 60_000;

describe('audit entries of anonymous callers', () => {
  let written: [string, unknown][];
  let broken: boolean;
  let log: StrangersLog;
  const audit = {
    append: async (_caller: Caller, { target, after }: AuditEntry) => {
      if (broken) throw new Error('the database is down');
      written.push([target?.name ?? '', after]);
    },
  } as unknown as AuditService;
  const fail = (name: string, ip = '192.0.2.1') =>
    log.append(
      { ip, userAgent: '', requestId: '', principal: null },
      {
        action: 'auth.login_failed',
        target: { type: 'user', id: null, name },
      },
    );
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    written = [];
    broken = false;
    log = new StrangersLog(audit, SILENT);
  });
  afterEach(() => void jest.useRealTimers());
  /** Lets time pass, and waits for what its timers start. */
  const wait = async (ms: number) => {
    jest.advanceTimersByTime(ms);
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };

  it('are the first at once, and the number of the others when the minute is over', async () => {
    for (let i = 0; i < 3; i++) await fail('ada');
    await fail('ada', '192.0.2.2');
    await fail('2001', '2001:db8::1');
    await fail('2001', '2001:db8::2');
    assert.deepEqual(written.splice(0), [
      ['ada', undefined],
      ['ada', undefined],
      ['2001', undefined],
    ]);
    assert.deepEqual(
      log.pending('auth.login_failed').map(({ ip, count }) => [ip, count]),
      [
        ['192.0.2.1', 2],
        ['2001:db8::2', 1],
      ],
    );
    await wait(MINUTE);
    assert.deepEqual(written.splice(0), [
      ['ada', { count: 2 }],
      ['2001', { count: 1 }],
    ]);
    assert.deepEqual(log.pending('auth.login_failed'), []);
    await wait(MINUTE);
    await fail('ada');
    assert.deepEqual(written, [['ada', undefined]]);
  });

  it('are complete when the next minute begins before the timer fires', async () => {
    await fail('ben');
    await wait(MINUTE / 2);
    await fail('ada');
    await fail('ada');
    await wait(MINUTE);
    await fail('ada');
    assert.deepEqual(written, [
      ['ben', undefined],
      ['ada', undefined],
      ['ada', { count: 1 }],
      ['ada', undefined],
    ]);
  });

  it('are bounded', async () => {
    for (let i = 0; i < 2; i++) await fail('first');
    for (let i = 0; i < 10_000; i++) await fail(`name ${i}`);
    assert.deepEqual(written.filter(([name]) => name === 'first').at(-1), ['first', { count: 1 }]);
  });

  it('begin with a row, or not at all', async () => {
    broken = true;
    await assert.rejects(fail('ada'));
    broken = false;
    await fail('ada');
    assert.deepEqual(written, [['ada', undefined]]);
  });
});
