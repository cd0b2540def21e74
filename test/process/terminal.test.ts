import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from '@jest/globals';
import { missing } from '../support/bind.js';
import { atEndOfTest, itUnless } from '../support/suites.js';

const atEnd = atEndOfTest();
const ROOT = join(import.meta.dirname, '../..');

describe('npm start at a terminal', () => {
  itUnless(missing('script'))('prints the address of the setup page, and no log lines below a warning', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'zoneward-terminal-'));
    atEnd(() => rmSync(folder, { recursive: true, force: true }));
    // script(1) runs the command at a pseudo-terminal
    const child = spawn('script', ['--quiet', '--return', '--command', 'npm start', '/dev/null'], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, HOME: folder, HOST: '127.0.0.1', PORT: '0', DATA_DIR: folder, DRAIN_MS: '0' },
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    atEnd(() => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid as number), 'SIGKILL');
    });
    const ended = once(child, 'exit');
    let output = '';
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk) => {
        output += chunk;
        if (/is ready: \S+\r?\n/.test(output)) resolve();
      });
      child.stdout.once('close', resolve);
    });
    assert.match(output, /Zoneward is ready: http:\/\/localhost:\d+\/setup\r?$/m);
    assert.doesNotMatch(output, /"msg":/);
    // Ctrl-C
    child.stdin.write('\x03');
    await ended;
  });
});
