import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import { SoftAuthenticator } from '../support/authenticator.js';
import { BASE_URL, enrolled, ORIGIN, type Passkeys, type Person, startPasskeys } from '../support/passkeys.js';
import type { Client } from '../support/server.js';
import { codeOf, enrol, wrongCode } from '../support/totp.js';
import { done, refused } from '../support/world.js';

const PASSWORD = 'violet-harbour-92';

/** What would turn an open session that somebody found into permanent access. */
describe('a session that is not fresh', () => {
  let world: Passkeys;
  beforeAll(async () => {
    world = await startPasskeys('sqlite', { BASE_URL });
  });
  afterAll(() => world?.stop());

  const grow = ({ id }: Person) =>
    world.db.run('UPDATE sessions SET created_at = ? WHERE user_id = ?', [now(-5 * 60_000 - 1), id]);
  const start = (client: Client, proof: object = {}) => client.post(`${world.path}/register/start`, proof);

  it('adds a passkey with the password, and without only when it is younger than five minutes', async () => {
    const person = await world.person();
    const secret = `${person.username}-secret`;
    await world.register(person.client, new SoftAuthenticator(ORIGIN));
    await grow(person);
    assert.deepEqual(refused(await start(person.client), 403, 403001).data.required, 'fresh');
    // a JWT that was renewed makes the session no younger
    const { token } = done(await person.client.post('/api/auth/refresh'));
    refused(await start(world.server.as(token)), 403, 403001);
    const wrong = refused(await start(person.client, { password: 'wrong' }), 401, 401001);
    assert.equal(wrong.data.errors[0].path, 'password');
    for (const proof of [{ totpCode: '123456' }, { recoveryCode: 'aaaaa-aaaaa-aaaaa-aaaaa' }])
      refused(await start(person.client, proof), 401, 401001);
    refused(await start(person.client, { password: 5 }), 400, 400001);
    const { challenge_id, options } = done(await start(person.client, { password: secret }));
    const response = new SoftAuthenticator(ORIGIN).create(options);
    assert.equal((await person.client.post(`${world.path}/register/finish`, { challenge_id, response })).status, 201);
    done(await start(await person.again()));
    // wrong ones count as failed logins
    for (let i = 0; i < 5; i++) refused(await start(person.client, { password: 'wrong' }), 401, 401001);
    refused(await start(person.client, { password: secret }), 423, 423001);
    await world.db.run('DELETE FROM limits');
  });

  it('adds a passkey with a code, which a password does not replace where there is an app', async () => {
    const person = await world.person();
    const password = `${person.username}-secret`;
    const before = await person.again();
    const { secret, recovery } = await enrol(person.client);
    // the session before the app has shown none, however young
    for (const proof of [{}, { password }])
      assert.deepEqual(refused(await start(before, proof), 403, 403001).data.required, '2fa');
    refused(await start(before, { totpCode: await wrongCode(secret) }), 401, 401001);
    done(await start(before, { recoveryCode: recovery[0] }));
    done(await start(person.client));
    await grow(person);
    refused(await start(person.client), 403, 403001);
    done(await start(person.client, { password }));
    done(await start(person.client, { totpCode: await codeOf(secret) }));
  });

  it('sets up no authenticator app, changes no address and binds nothing', async () => {
    const person = await world.person();
    await grow(person);
    const setup = (body: object) => person.client.post('/api/auth/2fa/setup', body);
    assert.deepEqual(refused(await setup({}), 403, 403001).data.required, 'fresh');
    refused(await setup({ password: 'wrong' }), 401, 401001);
    done(await setup({ password: `${person.username}-secret` }));
    const address = { email: 'evil@example.net', email_code: '123456' };
    const calls = [
      person.client.put('/api/security/profile', address),
      person.client.post('/api/security/bind-oauth', { provider: 'any' }),
    ];
    for (const call of calls) assert.deepEqual(refused(await call, 403, 403001).data.required, 'fresh');
    // a session that has just begun
    const young = await person.again();
    done(await young.post('/api/auth/2fa/setup'));
    refused(await young.put('/api/security/profile', address), 400, 400001);
    refused(await young.post('/api/security/bind-oauth', { provider: 'any' }), 404, 404001);
  });

  it('sets no first password', async () => {
    const person = await enrolled(world);
    await world.db.run("UPDATE users SET password_hash = '' WHERE id = ?", [person.id]);
    await grow(person);
    const set = (client: Client) => client.post('/api/auth/password', { old_password: 'none', new_password: PASSWORD });
    assert.deepEqual(refused(await set(person.client), 403, 403001).data.required, 'fresh');
    // nor is there a password to add a passkey with
    refused(await start(person.client, { password: 'any' }), 403, 403001);
    const { token } = done(await world.login(person.key));
    done(await set(world.server.as(token)));
    refused(await person.client.get('/api/auth/me'), 401, 401001);
    await world.server.login({ username: person.username, password: PASSWORD });
  });

  it('loses the proof of a passkey with the last one', async () => {
    const person = await world.person();
    const key = new SoftAuthenticator(ORIGIN);
    const [one, two] = [
      await world.register(person.client, key),
      await world.register(person.client, new SoftAuthenticator(ORIGIN)),
    ];
    const other = world.server.as(done(await world.login(key)).token);
    const may = async (client: Client) => (await client.get('/api/domains')).status;
    done(await world.admin.put('/api/settings/security', { require_2fa_role: 1 }));
    done(await person.client.delete(`${world.path}/${one.id}`));
    assert.deepEqual([await may(person.client), await may(other)], [200, 200]);
    done(await person.client.delete(`${world.path}/${two.id}`));
    assert.deepEqual([await may(person.client), await may(other)], [403, 403]);
    await world.unlimited();
  });
});
