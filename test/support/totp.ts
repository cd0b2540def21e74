import assert from 'node:assert/strict';
import { generate } from 'otplib';
import { timeMs } from '../../src/platform/common/clock.js';
import type { Client } from './server.js';
import { done } from './world.js';

const STEP_MS = 30_000;

/** The step of now, by the clock of the service. */
const stepNow = (): number => Math.floor(timeMs() / STEP_MS);

/** The current code of an authenticator app, or the one so many steps of 30 s away. */
export const codeOf = (secret: string, steps = 0): Promise<string> =>
  generate({ secret, epoch: Math.floor((timeMs() + steps * STEP_MS) / 1000) });

/**
 * Sends a code of the step before, which is taken until the current step ends, and so leaves the current one for later.
 * Where a step ended on the way, the next code is sent.
 */
export async function withEarlierCode<T extends { status: number }>(
  secret: string,
  send: (code: string) => Promise<T>,
): Promise<T> {
  for (;;) {
    const step = stepNow();
    const answer = await send(await codeOf(secret, -1));
    if (answer.status !== 401 || stepNow() === step) return answer;
  }
}

/** A code that differs from the three accepted ones. */
export async function wrongCode(secret: string): Promise<string> {
  const right = new Set(await Promise.all([-2, -1, 0, 1, 2].map((steps) => codeOf(secret, steps))));
  for (let n = 0; ; n++) {
    const code = String(n).padStart(6, '0');
    if (!right.has(code)) return code;
  }
}

/** Enables the second factor, which uses up the code of the previous step. */
export async function enrol(client: Client): Promise<{ secret: string; recovery: string[] }> {
  const { secret } = done(await client.post('/api/auth/2fa/setup'));
  const verified = await withEarlierCode(secret, (code) => client.post('/api/auth/2fa/verify', { code }));
  const { recovery_codes } = done(verified);
  assert.equal(recovery_codes.length, 10);
  return { secret, recovery: recovery_codes };
}
