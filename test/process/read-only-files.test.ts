import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { describeUnless } from '../support/suites.js';

const ROOT = join(import.meta.dirname, '../..');
/** the user of the image */
const USER = 1000;

/**
 * Runs a command as in the image: $TREE/app holds the release, only $TREE/data can be written, and the user has no
 * rights.
 */
const CONFINED = `
mount --make-rprivate /
mount --bind "$TREE/data" "$TREE/data"
awk '{ print $5 }' /proc/self/mountinfo | while read -r point; do
  [ "$point" = "$TREE/data" ] || mount -o remount,bind,ro "$point" 2>/dev/null || true
done
cd "$TREE/app"
exec setpriv --reuid=${USER} --regid=${USER} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$@"
`;
const arguments_ = (command: string[]) => ['--mount', 'sh', '-ec', CONFINED, 'sh', ...command];

const impossible =
  (process.getuid?.() !== 0 || spawnSync('unshare', ['--mount', 'setpriv', '--nnp', 'true']).status !== 0) &&
  'only root may make file systems read-only';

describeUnless(impossible)(
  'the service as the image runs it: unprivileged, nothing can be written but DATA_DIR',
  () => {
    let tree: string;
    let env: Record<string, string>;
    let service: ChildProcess;
    let output = '';
    let port: string;
    const run = (...command: string[]) => spawnSync('unshare', arguments_(command), { env, encoding: 'utf8' });
    const check = () => {
      const [, command] = /^ {2}CMD (\[.*\])$/m.exec(readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8')) ?? [];
      return run('env', `PORT=${port}`, ...JSON.parse(command as string)).status;
    };
    const ask = async (path: string, body?: object) =>
      (
        await fetch(`http://127.0.0.1:${port}${path}`, {
          method: body ? 'POST' : 'GET',
          headers: { 'content-type': 'application/json' },
          body: body ? JSON.stringify(body) : null,
        })
      ).json() as Promise<{ code: number; data: { status: string } }>;

    beforeAll(async () => {
      tree = mkdtempSync(join(tmpdir(), 'zoneward-image-'));
      chmodSync(tree, 0o755);
      mkdirSync(join(tree, 'data'));
      chownSync(join(tree, 'data'), USER, USER);
      chmodSync(join(tree, 'data'), 0o700);
      const stage = "import('./scripts/stage.mjs').then(({ stageService }) => stageService(process.argv[1]))";
      execFileSync(process.execPath, ['-e', stage, join(tree, 'app')], { cwd: ROOT });
      execFileSync(process.execPath, ['dist/zoneward.cjs', '--write-code-cache'], { cwd: join(tree, 'app') });
      // the variables of the image
      const set = Object.fromEntries(
        [...readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8').matchAll(/\b([A-Z_]+)=(\S+)/g)].map(
          ([, name, value]) => [name as string, value as string],
        ),
      );
      assert.deepEqual(Object.keys(set).slice(0, 2), ['NODE_ENV', 'DATA_DIR']);
      Object.assign(set, { TREE: tree, HOME: '/home/node', DATA_DIR: join(tree, 'data') });
      env = {
        ...set,
        PATH: process.env.PATH as string,
        HOST: '127.0.0.1',
        PORT: '0',
        DATABASE_URL: 'sqlite:zoneward.db',
      };
      service = spawn('unshare', arguments_([process.execPath, 'dist/zoneward.cjs']), { env });
      port = await new Promise<string>((resolve, reject) => {
        const listen = (chunk: Buffer) => {
          output += chunk;
          const [, found] = /"port":(\d+),[^\n]*"msg":"listening"/.exec(output) ?? [];
          if (found) resolve(found);
        };
        service.stdout?.on('data', listen);
        service.stderr?.on('data', listen);
        service.once('close', (code) => reject(new Error(`it ended with ${code}:\n${output}`)));
      });
    });
    afterAll(() => {
      service?.kill('SIGKILL');
      rmSync(tree, { recursive: true, force: true });
    });

    it('is confined, or the rest would show nothing', () => {
      for (const place of ['app', 'app/dist', 'app/node_modules', '.']) {
        const { status, stderr } = run('touch', join(tree, place, 'written'));
        assert.deepEqual([status, /Read-only file system/.test(stderr)], [1, true], place);
      }
      assert.equal(run('touch', join(tmpdir(), 'zoneward-written')).status, 1);
      assert.equal(run('touch', join(tree, 'data', 'written')).status, 0);
      assert.equal(run('id', '-u').stdout.trim(), String(USER));
    });

    it('starts, is ready, and works', async () => {
      assert.equal((await ask('/health/ready')).data.status, 'setup');
      const admin = { username: 'admin', password: 'correct-horse-battery-9' };
      assert.equal((await ask('/api/init/admin', admin)).code, 0);
      assert.equal((await ask('/health/ready')).data.status, 'ok');
      assert.equal((await ask('/api/auth/login', admin)).code, 0);
    });

    it('is healthy, says the check of the image', () => {
      assert.equal(check(), 0);
    });

    it('lets npm run admin work beside it', async () => {
      const { status, stdout, stderr } = run('npm', 'run', '--silent', 'admin', '--', 'reset-password', 'admin');
      assert.equal(status, 0, stderr);
      const password = /: (\S+)\n/.exec(stdout)?.[1];
      assert.equal((await ask('/api/auth/login', { username: 'admin', password })).code, 0);
      assert.equal(stderr, '');
    });

    it('ends in order, and is healthy no more', async () => {
      service.kill('SIGTERM');
      assert.deepEqual(await once(service, 'exit'), [0, null]);
      assert.equal(check(), 1);
      assert.ok(readdirSync(join(tree, 'data')).includes('zoneward.db'));
    });
  },
);
