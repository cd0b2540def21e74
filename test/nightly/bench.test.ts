import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { bindMissing } from '../support/bind.js';
import { noChromium } from '../support/chromium.js';
import { noFaketime } from '../support/clocks.js';
import { type Ended, runProgram } from '../support/command.js';
import { noPowerdns, noPowerdnsOverPostgresql } from '../support/powerdns.js';
import { itUnless } from '../support/suites.js';

const FOLDER = join(import.meta.dirname, '../../bench');
/** Alone they take five minutes, one after the other; all the other tests run beside them. */
const MOST_MS = 1_800_000;
const { TEST_POSTGRES_URL = '', TEST_MYSQL_URL = '', TEST_NO_POSTGRES } = process.env;
const SQLITE = 'sqlite:bench.db';
/** The last figures of each part of `npm run bench -- --charts`, in their order. */
const ALL = new RegExp(
  [
    /domain list: \d+ % of the speed/,
    /create a record in it: \d+ ms/,
    /250 creates in one list at PowerDNS \(gpgsql\): [\d.]+ s/,
    /sqlite: p99 .+ a second/,
    /postgresql: \d+ takes a second .+; 0 violations, 0 writes lost/,
    /mysql: \d+ takes a second .+; 0 violations, 0 writes lost/,
    /postgresql, load [\s\S]+mysql, load /,
    /sqlite: ms of processor time/,
    /2 with Redis: lists /,
  ]
    .map(({ source }) => source)
    .join('[\\s\\S]+'),
);

/** The last figures of each benchmark, on which database it runs, and why it cannot. */
const BENCHES: Record<string, [figures: RegExp, url?: string, skip?: string | false | undefined]> = {
  all: [ALL, SQLITE, noPowerdnsOverPostgresql],
  clocks: [/^all is as acknowledged/m, TEST_POSTGRES_URL, noPowerdns || TEST_NO_POSTGRES || noFaketime],
  audit: [/2000 entries: exported .+; verified 20\d+ in/],
  soak: [/^no write was lost/m, TEST_POSTGRES_URL, noPowerdns || TEST_NO_POSTGRES],
  switches: [/^rfc2136: 3 of 3 switched/m, '', noPowerdns || bindMissing()],
  console: [/heap of the page: [\d.]+ MiB/, SQLITE, noChromium],
  fair: [/backup: \d+ done/, ''],
  plans: [/a change of a zone of 200 records \d+ ms.+ after \d+ versions/, SQLITE, noPowerdns],
  doors: [/updates, .+ 0 wrong answers, 0 needless writes/, SQLITE, noPowerdns],
  failover: [/^processor: [\d.]+ of a core/m, ''],
  backup: [/sqlite: [\d.]+ s, \d+ MB/],
  schedule: [/sqlite: first .+, again .+, peak \d+ MiB/, SQLITE],
  memory: [/rest again[\s\S]+admin restore: \d+, \d+/, SQLITE],
  export: [/terraform: .+ ms at most/],
  start: [/listening after \d+ ms, \d+ ms of processor time, \d+ MiB/],
  dashboard: [/user with 50 permissions, \/api\/domains\/1\/changes: [\d.]+ ms/],
};

describe('the benchmarks in their short form', () => {
  const ended = new Map<string, Ended>();
  const drawn = mkdtempSync(join(tmpdir(), 'zoneward-charts-'));

  beforeAll(async () => {
    const wanted = Object.entries(BENCHES).filter(([, [, , skip]]) => !skip);
    for (const [name, [, url = SQLITE]] of wanted) {
      const env = { BENCH_SHORT: '1', DATABASE_URL: url, TEST_POSTGRES_URL, TEST_MYSQL_URL };
      const args = name === 'all' ? [`--charts=${drawn}`] : [];
      ended.set(name, await runProgram([process.execPath, join(FOLDER, `${name}.mjs`), ...args], env));
    }
  }, MOST_MS);
  afterAll(() => rmSync(drawn, { recursive: true }));

  for (const [name, [figures, , skip]] of Object.entries(BENCHES))
    itUnless(skip)(`${name} runs to its end and prints its figures`, () => {
      const { exit, out, err } = ended.get(name) ?? assert.fail();
      assert.equal(exit, 0, out + err);
      assert.match(out, figures);
    });

  itUnless(noPowerdnsOverPostgresql)('are drawn as charts', () => {
    const charts = readdirSync(drawn).toSorted();
    assert.deepEqual(charts, ['creates.svg', 'growth.svg', 'lists.svg', 'memory.svg', 'replicas.svg', 'zone.svg']);
    for (const chart of charts)
      assert.match(readFileSync(join(drawn, chart), 'utf8'), /^<svg [\s\S]+<text [\s\S]+<\/svg>\n$/);
  });

  it('are all that the folder has', () => {
    const files = readdirSync(FOLDER);
    const texts = files.map((file) => readFileSync(join(FOLDER, file), 'utf8'));
    const isPart = (file: string) => texts.some((text) => text.includes(`'${file}'`) || text.includes(`'./${file}'`));
    const programs = files
      .filter((file) => file.endsWith('.mjs') && !isPart(file))
      .map((file) => file.replace('.mjs', ''));
    assert.deepEqual(programs.toSorted(), Object.keys(BENCHES).toSorted());
  });
});
