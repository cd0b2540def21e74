import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';
import { CODES } from '../../src/platform/common/words/codes.js';

const ROOT = process.cwd();
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const page = read('docs/operations.md');

describe('docs/operations.md', () => {
  it('has a line for every error code, in their order, with what to do', () => {
    const rows = [...page.matchAll(/^\| (-?\d+) \| (.+) \| (.+) \|$/gm)];
    assert.deepEqual(
      rows.map(([, code]) => Number(code)),
      Object.values(CODES).map(({ code }) => code),
    );
    for (const [line, , means, action] of rows) assert.ok(means?.trim() && action?.trim(), line);
  });

  it('names only commands, files and messages that exist', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const run = [...page.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name as string);
    assert.ok(run.length > 5);
    for (const name of run) assert.ok(scripts[name], name);
    const admin = read('src/admin.ts');
    for (const [, name] of page.matchAll(/npm run admin -- ([\w-]+)/g)) assert.ok(admin.includes(name as string), name);
    for (const [, file] of page.matchAll(/\b(deploy\/[\w./-]+\w|CHANGELOG\.md|package\.json)/g))
      assert.ok(file === 'deploy/.env' || existsSync(join(ROOT, file as string)), file);
    const told = {
      'src/platform/config/config.ts': ['Wrong configuration:'],
      'src/platform/database/database.service.ts': ['the database cannot be opened; trying again'],
      'src/platform/config/secret-box.ts': ['The key file ', ' is empty', 'A secret was encrypted with the key '],
      'src/platform/database/sealed-values.ts': ['The database holds secrets that are encrypted with '],
      'src/platform/database/schema-watch.ts': ['The schema of the database is newer than this program'],
      'src/platform/database/installation.ts': ['paused: '],
      'src/platform/database/app-data-source.ts': ['The schema of the database is newer than this program'],
      'src/platform/database/sqlite-module.ts': ['SQLite needs Node 22.13 or later, or '],
      'src/create-app.ts': ['Something listens on ', ' already: end it, or set '],
      'src/http/error.filter.ts': ['internal error'],
      'src/audit/checkpoint-file.service.ts': ['audit checkpoint', 'the audit log is not what it was'],
    };
    for (const [file, messages] of Object.entries(told)) {
      for (const message of messages) {
        assert.ok(page.includes(message), message);
        assert.ok(read(file).includes(message), `${file}: ${message}`);
      }
    }
  });

  it('README.md has comments on lines of their own, without quotes: shells such as zsh take them for words', () => {
    const blocks = [...read('README.md').matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block]) => block as string);
    assert.ok(blocks.length >= 3);
    const lines = blocks.flatMap((block) => block.split('\n'));
    assert.deepEqual(
      lines.filter((line) => /\s#\s/.test(line) || /^#.*['"`]\S*$/.test(line)),
      [],
    );
  });

  it('hands the variables of the unit to the commands as systemd reads them', () => {
    const [, script] = /```sh\n(cd \/opt\/zoneward && \([\s\S]*?)```/.exec(page) ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'zoneward-docs-'));
    const lines = [
      '# a comment',
      'DATABASE_URL=postgres://zoneward:p$w=&x@127.0.0.1/zoneward?ssl=1&prepared=0',
      'SECRET_KEY=\'with "blanks" and \\backslashes=\'',
      'BASE_URL="https://dns.example.com"',
      'REDIS_URL=',
    ];
    writeFileSync(join(folder, 'env'), lines.join('\n'));
    writeFileSync(join(folder, 'runuser'), '#!/bin/sh\nexec env -0\n', { mode: 0o755 });
    const here = (script as string).replace('/opt/zoneward', folder).replace('/etc/zoneward.env', join(folder, 'env'));
    const { PATH = '' } = process.env;
    const shown = execFileSync('/bin/sh', ['-c', here], { env: { PATH: `${folder}:${PATH}` } }).toString();
    rmSync(folder, { recursive: true });
    const got = Object.fromEntries(shown.split('\0').map((line) => line.split(/=(.*)/s).slice(0, 2)));
    assert.deepEqual(
      [got.DATABASE_URL, got.SECRET_KEY, got.BASE_URL, got.REDIS_URL, got.DATA_DIR],
      [
        'postgres://zoneward:p$w=&x@127.0.0.1/zoneward?ssl=1&prepared=0',
        'with "blanks" and \\backslashes=',
        'https://dns.example.com',
        '',
        '/var/lib/zoneward',
      ],
    );
  });

  it('says how long an unused connection is kept, as it is', () => {
    const [, seconds] = /which is after (\d+) s\./.exec(page) ?? [];
    assert.ok(read('src/platform/http/express-adapter.ts').includes(`keepAliveTimeout = ${seconds}_000;`));
  });
});
