import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { SoftAuthenticator } from '../support/authenticator.js';
import { databases } from '../support/databases.js';
import { BASE_URL, enrolled, ORIGIN, type Passkeys, refusedLogin, startPasskeys } from '../support/passkeys.js';
import type { Answer } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, refused } from '../support/world.js';

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`passkeys at the same moment, on ${kind}`, () => {
    let world: Passkeys;
    beforeAll(async () => {
      world = await startPasskeys(kind, { BASE_URL });
    });
    afterAll(() => world.stop());
    const statuses = (answers: Answer[]) => answers.map(({ status }) => status).sort();

    it('let one of several uses of a counter value pass', async () => {
      const { key } = await enrolled(world);
      for (let round = 1; round <= 5; round++) {
        const starts = await Promise.all(Array.from({ length: 6 }, () => world.loginStart()));
        const counter = 100 * round;
        const answers = await Promise.all(
          starts.map(({ challenge_id, options }) => world.loginFinish(challenge_id, key.get(options, { counter }))),
        );
        assert.deepEqual(statuses(answers), [200, 401, 401, 401, 401, 401]);
      }
      // the largest value of four bytes
      const last = await world.loginStart();
      done(await world.loginFinish(last.challenge_id, key.get(last.options, { counter: 2 ** 32 - 1 })));
    });

    it('accept authenticators without a counter', async () => {
      const { client } = await world.person();
      const key = new SoftAuthenticator(ORIGIN);
      key.counter = 0;
      await world.register(client, key);
      const starts = await Promise.all(Array.from({ length: 4 }, () => world.loginStart()));
      const uses = starts.map(({ challenge_id, options }) =>
        world.loginFinish(challenge_id, key.get(options, { counter: 0 })),
      );
      for (const answer of await Promise.all(uses)) done(answer);
    });

    it('take a challenge once', async () => {
      const { client, key } = await enrolled(world);
      const { challenge_id, options } = await world.loginStart();
      const responses = Array.from({ length: 5 }, () => key.get(options));
      const answers = await Promise.all(responses.map((response) => world.loginFinish(challenge_id, response)));
      assert.deepEqual(statuses(answers), [200, 401, 401, 401, 401]);

      const adding = await world.registerStart(client);
      const body = () => ({
        challenge_id: adding.challenge_id,
        response: new SoftAuthenticator(ORIGIN).create(adding.options),
      });
      const added = await Promise.all(
        Array.from({ length: 5 }, () => client.post(`${world.path}/register/finish`, body())),
      );
      assert.deepEqual(statuses(added), [201, 400, 400, 400, 400]);
    });

    it('are stored once, also for another user', async () => {
      const { client, key } = await enrolled(world);
      const other = await world.person();
      for (const again of [client, other.client]) {
        const { challenge_id, options } = await world.registerStart(again);
        const response = new SoftAuthenticator(ORIGIN).create(options, { credentialId: key.credentialId });
        refused(await again.post(`${world.path}/register/finish`, { challenge_id, response }), 409, 409001);
      }
      assert.equal(done(await client.get(world.path)).length, 1);
    });

    it('are limited to 25', async () => {
      const { client, key } = await enrolled(world);
      for (let i = 0; i < 22; i++) await world.register(client, new SoftAuthenticator(ORIGIN));
      const starts = await Promise.all(Array.from({ length: 4 }, () => world.registerStart(client)));
      const answers = await Promise.all(
        starts.map(({ challenge_id, options }) =>
          client.post(`${world.path}/register/finish`, {
            challenge_id,
            response: new SoftAuthenticator(ORIGIN).create(options),
          }),
        ),
      );
      assert.deepEqual(statuses(answers), [201, 201, 409, 409]);
      refused(await client.post(`${world.path}/register/start`, {}), 409, 409001);
      done(await world.login(key));
    });

    it('leave one sign-in method, also when all are deleted at once', async () => {
      const { client, id } = await enrolled(world);
      for (let i = 0; i < 3; i++) await world.register(client, new SoftAuthenticator(ORIGIN));
      await world.db.run("UPDATE users SET password_hash = '' WHERE id = ?", [id]);
      const ids = done(await client.get(world.path)).map((passkey) => passkey.id);
      const answers = await Promise.all(ids.map((passkey) => client.delete(`${world.path}/${passkey}`)));
      assert.deepEqual(statuses(answers), [200, 200, 200, 409]);
      assert.equal(done(await client.get(world.path)).length, 1);
    });

    it('refuse text that the database cannot store', async () => {
      const { key } = await enrolled(world);
      for (const origin of ['https://evil.example/\0', `https://${'\u{1f511}'.repeat(20_000)}`, '\ud800']) {
        const { challenge_id, options } = await world.loginStart();
        refusedLogin(await world.loginFinish(challenge_id, key.get(options, { origin })));
      }
    });

    it('are not added by a session that has ended', async () => {
      const { client, id } = await world.person();
      const { challenge_id, options } = await world.registerStart(client);
      await world.db.run('DELETE FROM sessions WHERE user_id = ?', [id]);
      const response = new SoftAuthenticator(ORIGIN).create(options);
      refused(await client.post(`${world.path}/register/finish`, { challenge_id, response }), 401, 401001);
    });
  });
}
