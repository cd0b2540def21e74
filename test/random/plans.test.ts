import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { databases, type Kind } from '../support/databases.js';
import { seedOf } from '../support/seed.js';
import { type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, done } from '../support/world.js';
import { Dice } from './dice.js';
import { type Ground, startGrounds } from './grounds.js';
import { PlanRound } from './plan-round.js';

/** `npm run rounds` plays 1 000. */
const ROUNDS = Number(process.env.TEST_ROUNDS ?? 8);
/** of the first round; the next has the next one, and the provider follows from it */
const SEED = seedOf('random plans');
const REAL = ['powerdns', 'bind', 'knot', 'zone files'];
const say = (words: string) => process.stdout.write(`${words}\n`);

describe('plans of random states, beside a second writer', () => {
  let grounds: Ground[] = [];
  beforeAll(async () => {
    grounds = await startGrounds(REAL);
  });
  afterAll(() => Promise.all(grounds.map((ground) => ground.stop())));

  for (const { kind, skip } of databases('one'))
    describeUnless(skip)(`on ${kind}`, () => {
      it(
        `give the wanted state, every version again, and the state before, ${ROUNDS} rounds from TEST_SEED=${SEED}`,
        () => play(kind, ROUNDS, SEED),
        300_000 + ROUNDS * 60_000,
      );
    });

  async function play(kind: Kind, wanted: number, first: number): Promise<void> {
    const service = await startService(kind);
    const found: string[] = [];
    const played = new Map<string, number>();
    const told = new Map<string, number>();
    try {
      const accounts = new Map<Ground, number>();
      for (const ground of grounds)
        accounts.set(ground, await addAccount(service.admin, ground.definition.kind, ground.credentials));
      for (let seed = first; seed < first + wanted; seed++) {
        const ground = grounds[seed % grounds.length] as Ground;
        const round = new PlanRound(service, ground, new Dice(seed));
        const wrong = await round.play(accounts.get(ground) as number).catch((error: Error) => [String(error.stack)]);
        played.set(ground.name, (played.get(ground.name) ?? 0) + 1);
        for (const [what, n] of Object.entries(round.seen)) told.set(what, (told.get(what) ?? 0) + n);
        if (process.env.TEST_VERBOSE)
          say(`${kind}, ${ground.name}: ${played.get(ground.name)} rounds, TEST_SEED=${seed}`);
        if (!wrong.length) continue;
        found.push([`${ground.name}, TEST_SEED=${seed} TEST_ROUNDS=1:`, ...wrong.slice(0, 20)].join('\n    '));
        say(`VIOLATION on ${kind} ${found.at(-1)}`);
      }
      if (!(await audited(service.admin))) found.push('the audit chain is broken');
    } finally {
      await service.stop();
      const listed = (counts: Map<string, number>) => [...counts].map(([what, n]) => `${what}: ${n}`).join(', ');
      say(`plans on ${kind} from TEST_SEED=${first}, ${found.length} violations; ${listed(played)}; ${listed(told)}`);
    }
    assert.deepEqual(found, []);
  }
});

const audited = async (client: Client): Promise<boolean> => done(await client.get('/api/audit/verify')).ok;
