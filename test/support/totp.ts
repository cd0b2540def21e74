import assert from 'node:assert/strict';
import { generate } from 'otplib';
import type { Client } from './server.js';
import { done } from './world.js';

/** The current code of an authenticator app, or the one so many steps of 30 s away. */
export const codeOf = (secret: string, steps = 0): Promise<string> =>
  generate({ secret, epoch: Math.floor(Date.now() / 1000) + steps * 30 });

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
  const { recovery_codes } = done(await client.post('/api/auth/2fa/verify', { code: await codeOf(secret, -1) }));
  assert.equal(recovery_codes.length, 10);
  return { secret, recovery: recovery_codes };
}
