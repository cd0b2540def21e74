import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { generate } from 'otplib';
import type { Client } from './server.js';
import { done } from './world.js';

const STEP_MS = 30_000;
/** ms in which a request with a code is answered, also while the machine is busy */
const ON_ITS_WAY_MS = 3000;

const codeAt = (secret: string, steps: number): Promise<string> =>
  generate({ secret, epoch: Math.floor((Date.now() + steps * STEP_MS) / 1000) });

/**
 * The current code of an authenticator app, or the one so many steps of 30 s away. One of the step before is taken
 * until this step ends, so that near its end the next one is waited for.
 */
export async function codeOf(secret: string, steps = 0): Promise<string> {
  const left = STEP_MS - (Date.now() % STEP_MS);
  if (steps < 0 && left < ON_ITS_WAY_MS) await sleep(left + 10);
  return codeAt(secret, steps);
}

/** A code that differs from the three accepted ones. */
export async function wrongCode(secret: string): Promise<string> {
  const right = new Set(await Promise.all([-2, -1, 0, 1, 2].map((steps) => codeAt(secret, steps))));
  for (let n = 0; ; n++) {
    const code = String(n).padStart(6, '0');
    if (!right.has(code)) return code;
  }
}

/** Enables the second factor, which uses up the code of the previous step. */
export async function enrol(client: Client): Promise<{ secret: string; recovery: string[] }> {
  const { secret } = done(await client.post('/api/auth/2fa/setup'));
  const { recovery_codes } = done(await client.post('/api/auth/2fa/verify', { code: await codeOf(secret, -1) }));
  assert.equal(recovery_codes.length, 10);
  return { secret, recovery: recovery_codes };
}
