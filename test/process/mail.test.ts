import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import { addUser } from '../support/database.js';
import { databases } from '../support/databases.js';
import { linkToken, MAIL_ENV, MAIL_PASSWORD, type MailRow, type MailWorld, startMailWorld } from '../support/mail.js';
import { LocalServer, ServerProcess, startProcess } from '../support/server.js';
import { startSmtp } from '../support/smtp.js';
import { describeUnless } from '../support/suites.js';
import { done, each, until } from '../support/world.js';

const NEW_PASSWORD = 'a-wholly-new-one-417';
// twice the mails that are read at once
const MANY = 16;

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`outbox of mails on ${kind}`, () => {
    let world: MailWorld;
    beforeAll(async () => {
      world = await startMailWorld(kind);
    });
    beforeEach(async () => {
      await world.down();
      await world.db.run('DELETE FROM mails');
    });
    afterAll(() => world.stop());

    it('sends a reset link that works, and erases its content', async () => {
      const { mails } = await world.up();
      const username = await world.person();
      await world.ask(username);
      await world.state(username, 'sent');
      assert.equal(mails.length, 1);
      assert.deepEqual(mails[0]?.to, [`${username}@example.com`]);
      const text = mails[0]?.text ?? '';
      assert.match(text, new RegExp(username));
      assert.ok(text.includes(`${world.service.server.url.replace('127.0.0.1', 'localhost')}/reset#token=`), text);
      const row = await world.rowTo(username);
      assert.deepEqual([row?.content, row?.error, row?.tries], ['', null, 1]);
      assert.ok(row?.sent_at);
      const body = { token: linkToken(text), password: NEW_PASSWORD };
      done(await world.service.server.call('POST', '/api/auth/password-reset/confirm', body));
      await world.service.server.login({ username, password: NEW_PASSWORD });
    });

    it('waits for an unavailable server', async () => {
      const username = await world.person();
      await world.ask(username);
      await world.state(username, 'waiting');
      const row = await world.rowTo(username);
      assert.equal(row?.tries, 1);
      assert.match(row?.error ?? '', /cannot be reached: connection refused/);
      const { mails } = await world.up();
      await world.later();
      await world.state(username, 'sent');
      assert.equal(mails.length, 1);
      assert.equal((await world.rowTo(username))?.tries, 2);
    });

    it('retries a deferred mail and a refused login', async () => {
      const { mails, behaviour } = await world.up({ recipient: () => '451 greylisted' });
      const username = await world.person();
      await world.ask(username);
      await world.state(username, 'waiting');
      assert.match((await world.rowTo(username))?.error ?? '', /put off the recipient: 451 greylisted/);
      const { login } = behaviour;
      behaviour.login = (user, password) => `535 not ${user} ${password}`;
      await world.later();
      await until('login refused', async () => /refused user name/.test((await world.rowTo(username))?.error ?? ''));
      assert.match((await world.rowTo(username))?.error ?? '', /535 not mailer \*\*\*/);
      Object.assign(behaviour, { login, recipient: () => null });
      await world.later();
      await world.state(username, 'sent');
      assert.equal(mails.length, 1);
    });

    it('gives up at once when the recipient is refused', async () => {
      await world.up({ recipient: () => '550 no such user' });
      const username = await world.person();
      await world.ask(username);
      await world.state(username, 'failed');
      const row = await world.rowTo(username);
      assert.deepEqual([row?.content, row?.tries, row?.sent_at], ['', 1, null]);
      assert.match(row?.error ?? '', /refused the recipient: 550 no such user/);
      const { id } = row as MailRow;
      await until('log', async () => new RegExp(`"mail":${id},.*could not be sent`).test(world.service.server.log));
    });

    it('gives up after ten tries, and when the link has expired', async () => {
      const [tired, old] = [await world.person(), await world.person()];
      for (const username of [tired, old]) {
        await world.ask(username);
        await world.state(username, 'waiting');
      }
      await world.db.run('UPDATE mails SET tries = 9 WHERE recipient = ?', [`${tired}@example.com`]);
      await world.db.run('UPDATE mails SET created_at = ? WHERE recipient = ?', [
        now(-31 * 60_000),
        `${old}@example.com`,
      ]);
      await world.later();
      for (const username of [tired, old]) {
        await world.state(username, 'failed');
        assert.equal((await world.rowTo(username))?.content, '');
      }
      assert.match((await world.rowTo(tired))?.error ?? '', /connection refused/);
      assert.match((await world.rowTo(old))?.error ?? '', /not valid any more/);
    });

    it('sends no link through a server that an administrator set since', async () => {
      const username = await world.person();
      await world.ask(username);
      await world.state(username, 'waiting');
      const other = await startSmtp();
      try {
        await addUser(world.db, { username: 'deputy', password: 'deputy-secret' }, 2);
        const deputy = world.service.server.as(
          await world.service.server.login({ username: 'deputy', password: 'deputy-secret' }),
        );
        done(await deputy.put('/api/settings/smtp', { port: other.port, username: '', password: null }));
        const { mails } = await world.up();
        await world.later();
        await world.state(username, 'sent');
        assert.deepEqual([mails.length, other.mails.length], [1, 0]);
      } finally {
        await other.stop();
        done(
          await world.service.admin.put('/api/settings/smtp', {
            port: world.port,
            username: 'mailer',
            password: MAIL_PASSWORD,
          }),
        );
      }
    });

    it('sends nothing while mail is off', async () => {
      const username = await world.person();
      await world.ask(username);
      await world.state(username, 'waiting');
      done(await world.service.admin.put('/api/settings/smtp', { enabled: false }));
      const { mails } = await world.up();
      await world.later();
      await world.idle();
      assert.equal(mails.length, 0);
      assert.equal((await world.rowTo(username))?.state, 'waiting');
      done(await world.service.admin.put('/api/settings/smtp', { enabled: true }));
      await world.look();
      await world.state(username, 'sent');
      assert.equal(mails.length, 1);
    });

    it('adds no header for odd names and devices', async () => {
      const { mails } = await world.up();
      const username = await world.person();
      const [row] = await world.db.rows<{ id: number }>('SELECT id FROM users WHERE username_key = ?', [username]);
      const odd = 'x\r\nBcc: victim@example.com\r\n\r\n<a href=//evil>';
      await world.db.run('UPDATE users SET username = ? WHERE id = ?', [odd, row?.id as number]);
      const headers = { 'user-agent': 'Evil <script>http://evil.example/</script> \u00e9=?utf-8?Q?=0D=0ABcc:?=' };
      for (const agent of ['first', headers['user-agent']]) {
        const body = { username, password: 'old-secret' };
        done(await world.service.server.call('POST', '/api/auth/login', body, undefined, { 'user-agent': agent }));
      }
      await world.ask(username);
      await until('all mails', async () => mails.length >= 2 && mails.some(({ text }) => /#token=/.test(text)));
      for (const mail of mails) {
        assert.deepEqual(mail.to, [`${username}@example.com`]);
        const names = mail.headers.map(([name]) => name);
        assert.equal(names.includes('bcc'), false);
        assert.equal(new Set(names).size, names.length);
        const links = [...mail.html.matchAll(/<a href="([^"]*)"/g)].map(([, url]) => url);
        assert.deepEqual(links, /#token=/.test(mail.text) ? [/^http.*#token=.*$/m.exec(mail.text)?.[0]] : []);
        assert.doesNotMatch(mail.html, /<script|<a href=\//);
        assert.doesNotMatch(mail.text, /^Bcc:/m);
      }
    });

    it('keeps password, codes and links out of database, log and answers', async () => {
      const { mails, behaviour } = await world.up();
      behaviour.recipient = () => '451 later';
      const username = await world.person();
      await world.ask(username);
      await world.state(username, 'waiting');
      const tables = ['mails', 'settings', 'challenges', 'audit_logs', 'audit_pending', 'limits', 'users'];
      const contents = await Promise.all(tables.map((table) => world.db.rows(`SELECT * FROM ${table}`)));
      const answers = await Promise.all(
        ['/api/settings', '/api/settings/smtp', '/api/audit/logs?limit=100'].map(async (path) => {
          return JSON.stringify(done(await world.service.admin.get(path)));
        }),
      );
      const files =
        kind === 'sqlite'
          ? readdirSync(world.service.server.dataDir)
              .filter((name) => name.startsWith('zoneward.db'))
              .map((name) => readFileSync(join(world.service.server.dataDir, name), 'latin1'))
          : [];
      behaviour.recipient = () => null;
      await world.later();
      await world.state(username, 'sent');
      const token = linkToken(mails.at(-1)?.text ?? '');
      assert.equal(token.length, 64);
      const seen = [JSON.stringify(contents), ...answers, ...files, world.service.server.log];
      assert.ok(seen[0]?.includes(`${username}@example.com`), 'the rows were read');
      for (const secret of [MAIL_PASSWORD, Buffer.from(MAIL_PASSWORD).toString('base64'), token])
        assert.equal(
          seen.findIndex((text) => text.includes(secret)),
          -1,
        );
    });
  });

  describeUnless(skip)(`outbox of mails of a process on ${kind}`, () => {
    let world: MailWorld;
    // a process of its own, which crashes and is stopped
    beforeAll(async () => {
      world = await startMailWorld(kind, startProcess);
    });
    beforeEach(async () => {
      await world.down();
      await world.db.run('DELETE FROM mails');
    });
    afterAll(() => world.stop());

    it(`sends each of ${MANY} mails once, by however many processes`, async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-replica-'));
      // an embedded database belongs to one process; of the others this one is the second
      const others =
        kind === 'sqlite'
          ? []
          : [await LocalServer.start({ ...MAIL_ENV, DATABASE_URL: world.service.databaseUrl }, dataDir)];
      const servers = [world.current, ...others];
      try {
        const names = await Promise.all(Array.from({ length: MANY }, () => world.person()));
        await each(names, 4, (username, i) => world.ask(username, servers[i % servers.length]));
        for (const username of names) await world.state(username, 'waiting');
        const { mails } = await world.up({ slow: 30 });
        await world.later();
        // one more mail from each process, so that all look at the same moment
        for (const _ of servers) names.push(await world.person());
        await Promise.all(servers.map((server, i) => world.ask(names[MANY + i] as string, server)));
        for (const username of names) await world.state(username, 'sent');
        assert.deepEqual(
          mails.flatMap(({ to }) => to).toSorted(),
          names.map((name) => `${name}@example.com`).toSorted(),
        );
      } finally {
        for (const server of others) await server.kill();
        rmSync(dataDir, { recursive: true, force: true });
      }
    });

    it('sends mails that a crash interrupted, and removes old ones', async () => {
      const first = await world.up({ slow: 600_000 });
      const username = await world.person();
      await world.ask(username);
      await until('claimed', async () => (await world.rowTo(username))?.tries === 1);
      await world.service.server.kill();
      assert.equal((await world.rowTo(username))?.state, 'waiting');
      assert.equal(first.mails.length, 0);
      await world.down();
      const old = (template: string, state: string, days: number) =>
        world.db.run(
          `INSERT INTO mails (recipient, template, content, state, tries, next_at, created_at) VALUES (?, ?, 'x', ?, 1, ?, ?)`,
          ['old@example.com', template, state, now(-days * 86_400_000), now(-days * 86_400_000)],
        );
      await old('gone', 'sent', 31);
      await old('gone', 'failed', 31);
      await old('kept', 'sent', 29);
      await old('late', 'waiting', 2);
      // it was done at the first start, and is due once an hour
      await world.db.run(`UPDATE jobs SET next_at = ? WHERE name = 'mails.tidy'`, [now()]);
      const { mails } = await world.up();
      await world.later(true);
      // that a signal ends the process, at the end of this suite, does not depend on the database
      world.current = await (kind === 'sqlite' ? ServerProcess : LocalServer).start(
        { ...MAIL_ENV, DATABASE_URL: world.service.databaseUrl },
        world.service.server.dataDir,
      );
      await world.state(username, 'sent');
      assert.equal(mails.length, 1);
      const oldMails = () =>
        world.db.rows<{ template: string; state: string; content: string }>(
          `SELECT template, state, content FROM mails WHERE recipient = 'old@example.com' ORDER BY template`,
        );
      await until('what is old is gone', async () => (await oldMails()).length === 2);
      const left = await oldMails();
      assert.deepEqual(
        left.map(({ template, state }) => `${template} ${state}`),
        ['kept sent', 'late failed'],
      );
      assert.equal(left[1]?.content, '');
    });

    it('ends cleanly while a mail is being sent', async () => {
      const { mails } = await world.up({ slow: 500 });
      const username = await world.person();
      await world.ask(username);
      await until('claimed', async () => (await world.rowTo(username))?.tries === 1);
      assert.equal(await world.current.stop(), 0);
      const row = await world.rowTo(username);
      assert.deepEqual([row?.state, mails.length], ['sent', 1]);
    });
  });
}
