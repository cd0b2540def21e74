/** Seed of the gate, which judges each change by the same random cases. */
const FIXED = 90_210;

/**
 * Seed of random cases: `TEST_SEED`, or the same in each run. Printed, so that a failure can be repeated; the nightly
 * run passes a random one.
 */
export function seedOf(suite: string): number {
  const seed = Number(process.env.TEST_SEED ?? FIXED);
  process.stdout.write(`${suite}: TEST_SEED=${seed}\n`);
  return seed;
}
