import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import { databases } from '../support/databases.js';
import { linkToken, type MailWorld, startMailWorld } from '../support/mail.js';
import { ADMIN } from '../support/server.js';
import type { Arrived, Smtp } from '../support/smtp.js';
import { describeUnless } from '../support/suites.js';
import { codeOf, enrol } from '../support/totp.js';
import { done, refused, until } from '../support/world.js';

for (const { kind, skip } of databases('sqlite')) {
  describeUnless(skip)(`password reset and own profile on ${kind}`, () => {
    let world: MailWorld;
    let smtp: Smtp;
    let network = 1;
    const headers = () => ({ 'x-forwarded-for': `203.0.113.${network++ % 250}` });
    const call = <P extends string>(path: P, body: object) =>
      world.current.call('POST', path, body, undefined, headers());
    const login = (username: string, password: string, more: object = {}) =>
      call('/api/auth/login', { username, password, ...more });
    const confirm = (token: string, password: string) => call('/api/auth/password-reset/confirm', { token, password });
    /** The mails to an address, when there are so many. */
    const mailsTo = async (address: string, count = 1): Promise<Arrived[]> => {
      const here = () => smtp.mails.filter((mail) => mail.to.includes(address));
      await until(`${count} mails to ${address}`, async () => here().length >= count);
      return here();
    };
    const linkOf = async (name: string, count = 1) =>
      linkToken((await mailsTo(`${name}@example.com`, count)).at(-1)?.text ?? '');
    const person = async () => {
      const name = await world.person();
      return { name, client: world.current.as(done(await login(name, 'old-secret')).token) };
    };
    beforeAll(async () => {
      world = await startMailWorld(kind);
      smtp = await world.up();
    });
    afterAll(() => world?.stop());

    it('sets a new password once, and ends sessions and locks', async () => {
      const { name, client } = await person();
      await world.ask(name);
      const token = await linkOf(name);
      assert.match(token, /^[0-9a-f]{64}$/);
      assert.equal(refused(await confirm(token, 'short'), 400, 400001).data.errors[0].path, 'password');
      done(await confirm(token, 'violet-harbour-92'));
      refused(await client.get('/api/auth/me'), 401, 401001);
      refused(await login(name, 'old-secret'), 401, 401001);
      done(await login(name, 'violet-harbour-92'));
      refused(await confirm(token, 'another-harbour-93'), 401, 401001);
      const row = await world.db.row('SELECT id FROM challenges WHERE id = ?', [token]);
      assert.equal(row, undefined, 'the token itself is nowhere in the database');
    });

    it('answers the same for all names, and mails only to existing users', async () => {
      const { name } = await person();
      await world.db.run('UPDATE users SET status = 0 WHERE username_key = ?', [name]);
      const answers = [
        await call('/api/auth/password-reset', { username: 'nobody' }),
        await call('/api/auth/password-reset', { email: 'nobody@example.com' }),
        await call('/api/auth/password-reset', { username: name }),
        await call('/api/auth/password-reset', { username: ADMIN.username }),
      ];
      assert.deepEqual(
        new Set(answers.map(({ status, code, msg, data }) => JSON.stringify({ status, code, msg, data }))).size,
        1,
      );
      done(answers[0] as (typeof answers)[0]);
      const { name: other } = await person();
      done(await call('/api/auth/password-reset', { email: `${other.toUpperCase()}@Example.com` }));
      await linkOf(other);
      assert.ok(!smtp.mails.some((mail) => mail.to.includes(`${name}@example.com`)));
      for (const body of [{}, { username: 'a', email: 'a@example.com' }, { email: 'x' }, { email: ['a@example.com'] }])
        refused(await call('/api/auth/password-reset', body), 400, 400001);
    });

    it('refuses tokens that are wrong, old, or of a disabled user', async () => {
      const { name } = await person();
      await world.ask(name);
      const token = await linkOf(name);
      refused(await confirm('0'.repeat(64), 'violet-harbour-92'), 401, 401001);
      for (const wrong of ['', 'x', token.slice(1), `${token}0`, token.toUpperCase()].filter((t) => t !== token))
        refused(await confirm(wrong, 'violet-harbour-92'), 400, 400001);
      await world.db.run('UPDATE users SET status = 0 WHERE username_key = ?', [name]);
      refused(await confirm(token, 'violet-harbour-92'), 401, 401001);
      await world.db.run('UPDATE users SET status = 1 WHERE username_key = ?', [name]);
      await world.db.run('UPDATE challenges SET expires_at = ?', [now(-1)]);
      refused(await confirm(token, 'violet-harbour-92'), 401, 401001);
    });

    it('works once when two come at the same moment', async () => {
      const { name } = await person();
      await world.ask(name);
      const token = await linkOf(name);
      const both = await Promise.all(
        ['violet-harbour-92', 'yellow-harbour-93'].map((password) => confirm(token, password)),
      );
      assert.deepEqual(both.map((answer) => answer.status).sort(), [200, 401]);
    });

    it('does not turn the second factor off', async () => {
      const { name, client } = await person();
      const { secret } = await enrol(client);
      await world.ask(name);
      done(await confirm(await linkOf(name), 'violet-harbour-92'));
      assert.equal((await login(name, 'violet-harbour-92')).code, -2);
      done(await login(name, 'violet-harbour-92', { totpCode: await codeOf(secret) }));
    });

    it('leads to the public address, whatever Host the request names', async () => {
      const { name } = await person();
      await fetch(`${world.current.url}/api/auth/password-reset`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-forwarded-host': 'evil.example',
          forwarded: 'host=evil.example',
          ...headers(),
        },
        body: JSON.stringify({ username: name }),
      });
      const [mail] = await mailsTo(`${name}@example.com`);
      assert.ok(!mail?.raw.includes('evil.example'));
      assert.match(mail?.text ?? '', /^http:\/\/localhost:\d+\/reset#token=/m);
    });

    it('limits the mails to one account', async () => {
      const { name } = await person();
      for (let i = 0; i < 8; i++) await world.ask(name);
      const { name: other } = await person();
      await world.ask(other);
      await linkOf(other);
      await linkOf(name, 5);
      assert.equal(smtp.mails.filter((mail) => mail.to.includes(`${name}@example.com`)).length, 5);
    });

    it('the profile is changed by its user', async () => {
      const { client } = await person();
      const shown = done(await client.get('/api/security/profile'));
      assert.deepEqual(Object.keys(shown).sort(), [
        'email',
        'email_verified',
        'language',
        'nickname',
        'theme',
        'timezone',
      ]);
      for (const body of [shown, {}, { nickname: shown.nickname }])
        assert.deepEqual(done(await client.put('/api/security/profile', body)), shown);
      const changed = done(
        await client.put('/api/security/profile', {
          nickname: 'N',
          language: 'zh',
          theme: 'dark',
          timezone: 'Asia/Tokyo',
        }),
      );
      assert.deepEqual(changed, { ...shown, nickname: 'N', language: 'zh', theme: 'dark', timezone: 'Asia/Tokyo' });
      const bodies = [
        { nickname: '' },
        { nickname: null },
        { language: null },
        { theme: null },
        { nickname: 'a\r\nb' },
        { language: 'xx' },
        { theme: 'x' },
        { timezone: 'x' },
        { role: 3 },
        { email: 'a@b\r\nBcc: c@d' },
      ];
      for (const body of bodies) refused(await client.put('/api/security/profile', body), 400, 400001);
    });

    it('another address needs the code that was mailed there, within five tries', async () => {
      const { name, client } = await person();
      const put = (body: object) => client.put('/api/security/profile', body);
      const code = async (email: string, count = 1) => {
        done(await client.post('/api/security/email-code', { email }));
        return /\b\d{6}\b/.exec((await mailsTo(email, count)).at(-1)?.text ?? '')?.[0] as string;
      };
      const email = `new-${name}@example.com`;
      assert.equal(refused(await put({ email }), 400, 400001).data.errors[0].path, 'email_code');
      const first = await code(email);
      const other = first === '000000' ? '000001' : '000000';
      refused(await put({ email, email_code: other }), 400, 400001);
      refused(await put({ email: `x-${email}`, email_code: first }), 400, 400001);
      const profile = done(await put({ email, email_code: first }));
      assert.deepEqual([profile.email, profile.email_verified], [email, true]);
      refused(await put({ email: `y-${email}`, email_code: first }), 400, 400001);

      const second = await code(`z-${email}`);
      for (let i = 0; i < 5; i++) refused(await put({ email: `z-${email}`, email_code: other }), 400, 400001);
      refused(await put({ email: `z-${email}`, email_code: second }), 400, 400001);
      const third = await code(`z-${email}`, 2);
      await world.db.run("UPDATE challenges SET expires_at = ? WHERE kind = 'email-code'", [now(-1)]);
      refused(await put({ email: `z-${email}`, email_code: third }), 400, 400001);

      const taken = await world.person();
      const theirs = await code(`${taken}@example.com`);
      refused(await put({ email: `${taken}@example.com`, email_code: theirs }), 409, 409001);
      assert.equal(done(await client.get('/api/security/profile')).email, email);
      assert.deepEqual(done(await put({ email: null })).email, null);
    });

    it('notifies the owner of a lock and of a new device', async () => {
      const { name } = await person();
      const address = `${name}@example.com`;
      await world.db.run("UPDATE users SET language = 'zh' WHERE username_key = ?", [name]);
      done(await world.service.admin.put('/api/settings', { timezone: 'Asia/Tokyo' }));
      const device = (userAgent: string) =>
        world.current.call('POST', '/api/auth/login', { username: name, password: 'old-secret' }, undefined, {
          ...headers(),
          'user-agent': userAgent,
        });
      done(await device('node'));
      done(await device('Firefox/200.1'));
      done(await device('Firefox/201.0'));
      const [mail] = await mailsTo(address);
      assert.match(mail?.text ?? '', /Firefox/);
      assert.match(mail?.text ?? '', /：\d{4}-\d\d-\d\d \d\d:\d\d UTC\+09:00\n/);
      await world.db.run("UPDATE users SET timezone = 'Asia/Kathmandu' WHERE username_key = ?", [name]);
      const from = headers();
      for (let i = 0; i < 5; i++)
        await world.current.call('POST', '/api/auth/login', { username: name, password: 'wrong' }, undefined, from);
      const [, locked] = await mailsTo(address, 2);
      assert.ok(locked?.text.includes(from['x-forwarded-for']));
      assert.match(locked?.text ?? '', /：\d{4}-\d\d-\d\d \d\d:\d\d UTC\+05:45\n/);
      assert.match(locked?.subject ?? '', /\p{Script=Han}/u);
      done(await world.service.admin.put('/api/settings', { timezone: 'UTC' }));
      assert.equal(smtp.mails.filter((m) => m.to.includes(address)).length, 2);
    });

    it('says so where no mail server is set up', async () => {
      const { client } = await person();
      done(await world.service.admin.put('/api/settings/smtp', { enabled: false }));
      refused(await client.post('/api/security/email-code', { email: 'a@example.com' }), 501, 501001);
      done(await call('/api/auth/password-reset', { username: ADMIN.username }));
    });
  });
}
