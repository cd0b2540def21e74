import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from '@jest/globals';
import { readRooms } from '../support/rooms.js';

const ROOT = process.cwd();
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const filesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file));

/** Lines of a source that are a comment and are wider than 120 columns, by number. */
const wideComments = (text: string): number[] =>
  text.split('\n').flatMap((line, i) => (line.length > 120 && /^\s*(\/\/|\/?\*)|[^:]\/\/ /.test(line) ? [i + 1] : []));

describe('conventions of this repository', () => {
  it('keeps its comments within 120 columns', () => {
    const packages = ['packages/client', 'packages/cli'].flatMap((one) => [`${one}/src`, `${one}/scripts`]);
    const sources = ['src', 'test', 'bench', 'tour', 'scripts', ...packages, 'clients']
      .flatMap(filesIn)
      .concat(readdirSync(ROOT))
      .filter((file) => /\.(ts|mjs|cjs)$/.test(file) && !file.endsWith('.d.ts'));
    assert.ok(sources.length > 300);
    const wide = sources.flatMap((file) => wideComments(read(file)).map((line) => `${file}:${line}`));
    assert.deepEqual(wide, []);
    const words = 'word '.repeat(30);
    assert.deepEqual(wideComments(`// ${words}\n * ${words}\nconst a = 1; // ${words}\n'${words}'`), [1, 2, 3]);
  });

  it('keeps suites that the gate runs on all databases in test/database', () => {
    const suites = filesIn('test').filter((file) => file.endsWith('.test.ts'));
    const onAll = suites.filter((file) => read(file).includes("of databases('all')"));
    assert.ok(onAll.length > 10);
    assert.deepEqual(
      onAll.filter((file) => !/^test\/(database|nightly)\//.test(file)),
      ['test/unit/conventions.test.ts'],
    );
  });

  const page = read('docs/architecture.md');
  /** cells of the table of rooms: names, and the tables of each line */
  const rows = [...page.matchAll(/^\| (`.+?) \|.*\| ([a-z_, ]*)\|$/gm)].map(([, rooms, tables]) => ({
    rooms: (rooms as string).match(/[a-z0-9-]+(\/[a-z0-9-]+)*(?=\/`)/g) ?? [],
    tables: (tables as string).match(/\w+/g) ?? [],
  }));

  it('names on its page only what is there', () => {
    const named = [...page.matchAll(/`((?:src|test)\/[\w./-]+|rooms\.json)`/g)].map(([, path]) => path as string);
    assert.ok(named.length > 15);
    assert.deepEqual(
      named.filter((path) => !existsSync(join(ROOT, path))),
      [],
    );
  });

  it('calls no two bodies or answers alike: the OpenAPI description would show one for both', () => {
    const classes = filesIn('src')
      .filter((file) => file.endsWith('.dto.ts'))
      .flatMap((file) => [...read(file).matchAll(/^(?:export )?class (\w+)/gm)].map(([, name]) => name as string));
    assert.ok(classes.length > 100);
    assert.deepEqual(
      classes.filter((name, i) => classes.indexOf(name) !== i),
      [],
    );
  });

  /** What the lint says of files, as `path:line`, of some categories. */
  const lintOf = (files: Record<string, string[]>, categories: RegExp): string[] => {
    const folder = mkdtempSync(join(tmpdir(), 'zoneward-lint-'));
    try {
      for (const file of ['biome.json', 'test/support/no-literal-sleep.grit']) {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        copyFileSync(join(ROOT, file), join(folder, file));
      }
      for (const [file, lines] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), lines.join('\n'));
      }
      const biome = join(ROOT, 'node_modules/.bin/biome');
      const { stdout } = spawnSync(biome, ['lint', '--reporter=json'], { cwd: folder, encoding: 'utf8' });
      const { diagnostics } = JSON.parse(stdout) as {
        diagnostics: { category: string; location: { path: string; start: { line: number } } }[];
      };
      return diagnostics
        .filter(({ category }) => categories.test(category))
        .map(({ location: { path, start } }) => `${path}:${start.line}`)
        .sort();
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  it('looks names up in one place, and connects by its outbound room only: the lint says so', () => {
    const files: Record<string, string[]> = {
      'src/monitoring/failover/x.ts': [
        "import { lookup } from 'node:dns';",
        "import * as net from 'node:net';",
        "import { request } from 'node:http';",
        "import { Agent } from 'undici';",
        "const dns = await import('node:dns/promises');",
        "const page = await fetch('http://x.example');",
        'export const all = [lookup, net, request, Agent, dns, page];',
      ],
      'src/platform/outbound/x.ts': ["import { lookup } from 'node:dns';", 'export const all = [lookup];'],
      'src/platform/outbound/lookup.ts': [
        "import { Resolver } from 'node:dns/promises';",
        'export const all = [Resolver];',
      ],
    };
    assert.deepEqual(lintOf(files, /^lint\/style\/noRestricted/), [
      ...[1, 2, 3, 4, 5, 6].map((n) => `src/monitoring/failover/x.ts:${n}`),
      'src/platform/outbound/x.ts:1',
    ]);
  });

  it('waits through the clock in the service, and for conditions in tests: the lint says so', () => {
    const timers = [
      "import { setTimeout as pause } from 'node:timers/promises';",
      'export const all = [pause, setTimeout(() => 1, 1), setInterval(() => 1, 1)];',
    ];
    const waits = [
      "import { setImmediate as nextTurn } from 'node:timers/promises';",
      'const SOON_MS = 5;',
      'declare const sleep: (ms: number) => Promise<void>;',
      'export const named = [nextTurn, sleep(SOON_MS)];',
      'export const literal = sleep(1_000);',
    ];
    const files = {
      'src/records/x.ts': timers,
      'src/platform/outbound/x.ts': timers,
      'src/platform/common/clock.ts': timers.slice(1),
      'test/api/x.test.ts': [...timers, ...waits.slice(1)],
      'test/random/x.ts': waits,
      'test/support/x.ts': [...timers, ...waits.slice(2)],
    };
    assert.deepEqual(lintOf(files, /^lint\/style\/noRestricted|^plugin/), [
      ...['src/platform/outbound/x.ts:1', 'src/platform/outbound/x.ts:2', 'src/platform/outbound/x.ts:2'],
      ...['src/records/x.ts:1', 'src/records/x.ts:2', 'src/records/x.ts:2'],
      ...['test/api/x.test.ts:1', 'test/api/x.test.ts:2', 'test/api/x.test.ts:2', 'test/api/x.test.ts:6'],
      'test/random/x.ts:5',
    ]);
  });

  it('gives each random test a seed', () => {
    const runs = filesIn('test')
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [...read(file).matchAll(/\{[^{}]*\bnumRuns\b[^{}]*\}/g)].map(([given]) => ({ file, given })));
    assert.ok(runs.length > 10);
    assert.deepEqual(
      runs.filter(({ given }) => !/\bseed\b/.test(given)),
      [],
    );
  });

  it('reads the wall clock in one place, which tests control', () => {
    const readers = filesIn('src').filter(
      (file) => file.endsWith('.ts') && /\bDate\.now\b|AbortSignal\.timeout\b/.test(read(file)),
    );
    assert.deepEqual(readers, ['src/platform/common/clock.ts']);
  });

  it('has a line on its page for each room and each table', () => {
    const rooms = Object.keys(readRooms());
    const shown = rows.flatMap((row) => row.rooms);
    assert.deepEqual(
      rooms.filter((room) => !shown.includes(room)),
      [],
    );
    const tables = filesIn('src')
      .filter((file) => file.endsWith('.entity.ts'))
      .flatMap((file) => [...read(file).matchAll(/@Entity\('(\w+)'\)/g)].map(([, table]) => table as string));
    assert.deepEqual(rows.flatMap((row) => row.tables).sort(), tables.sort());
  });
});
