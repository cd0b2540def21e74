import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';
import { type Bounds, POOLS } from '../../src/platform/common/pools.js';

const ROOT = process.cwd();
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const cores = Math.max(1, availableParallelism() - 1);
const sources = (readdirSync(join(ROOT, 'src'), { recursive: true }) as string[]).filter((file) =>
  file.endsWith('.ts'),
);

/** A number of the table; those of cores are told in words. */
const numberOf = (text: string): number => {
  if (text === 'no bound') return Number.POSITIVE_INFINITY;
  if (text === 'nobody') return 0;
  if (text === 'cores') return cores;
  if (text === 'half of the cores') return Math.ceil(cores / 2);
  return Number(text);
};

describe('the table of pools in docs/architecture.md', () => {
  const rows = read('docs/architecture.md')
    .split('\n')
    .filter((line) => /^\|( [^|]+ \|){10}$/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .slice(1);

  it('has a row for each pool, in their order', () => {
    assert.deepEqual(
      rows.map(([, name]) => name),
      Object.keys(POOLS),
    );
  });

  it('tells the numbers of the code', () => {
    for (const [, name, what, user, , all, ofUser, atTarget, waiting, full, setting] of rows as string[][]) {
      const bounds = (POOLS as Record<string, Bounds>)[name as string] as Bounds;
      assert.ok(what && user && full && setting === 'fixed', name);
      assert.equal(numberOf(all as string), bounds.all, name);
      assert.equal(numberOf(ofUser as string), bounds.user, name);
      const [most, ...more] = (atTarget as string).split(', ');
      if (most !== '—') assert.equal(numberOf(most as string), bounds.target, name);
      else assert.ok(bounds.target >= bounds.user, name);
      const told = (end: string) => more.find((one) => one.endsWith(end))?.slice(0, -end.length);
      assert.equal(Number(told(' of a user') ?? bounds.target), bounds.userAtTarget ?? bounds.target, name);
      assert.equal(told(' a second'), bounds.perSecond?.toString(), name);
      const [line, own] = (waiting as string).split(', ');
      assert.equal(numberOf(line as string), bounds.waiting, name);
      const ofLine = own ? Number(own.replace(' of a user', '')) : bounds.waiting;
      assert.equal(ofLine, bounds.waitingOfUser, name);
    }
  });

  it('is of pools that there are, each made in one place, and of no other queues', () => {
    const texts = sources.map((file) => [file, read(join('src', file))] as const);
    for (const name of Object.keys(POOLS)) {
      const makers = texts.filter(([, text]) => text.includes(`new FairPool('${name}')`));
      assert.equal(makers.length, 1, name);
    }
    // one connection to one server, which belongs to one account
    const queues = texts.filter(([, text]) => text.includes("from 'p-queue'")).map(([file]) => file);
    assert.deepEqual(queues, ['providers/rfc2136/client.ts']);
  });
});
