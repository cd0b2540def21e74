import assert from 'node:assert/strict';
import { generate } from 'otplib';
import type { Client } from './server.js';
import { done } from './world.js';

/** The code of an authenticator app now, or so many steps of 30 s away. */
export const codeOf = (secret: string, steps = 0): Promise<string> =>
  generate({ secret, epoch: Math.floor(Date.now() / 1000) + steps * 30 });

/** A code that is certainly wrong: none of the three that count. */
export async function wrongCode(secret: string): Promise<string> {
  const right = new Set(await Promise.all([-2, -1, 0, 1, 2].map((steps) => codeOf(secret, steps))));
  for (let n = 0; ; n++) {
    const code = String(n).padStart(6, '0');
    if (!right.has(code)) return code;
  }
}

/** Turns the second factor on. The code of the step before is used up by it. */
export async function enrol(client: Client): Promise<{ secret: string; recovery: string[] }> {
  const { secret } = done(await client.post('/api/auth/2fa/setup'));
  const { recovery_codes } = done(await client.post('/api/auth/2fa/verify', { code: await codeOf(secret, -1) }));
  assert.equal(recovery_codes.length, 10);
  return { secret, recovery: recovery_codes };
}
