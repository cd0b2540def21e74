import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { FLAGS, type Forgery, oddBodies, SoftAuthenticator } from '../support/authenticator.js';
import { BASE_URL, enrolled, ORIGIN, type Passkeys, refusedLogin, startPasskeys } from '../support/passkeys.js';
import type { Client } from '../support/server.js';
import { done, made, refused } from '../support/world.js';

describe('passkeys under attack', () => {
  let world: Passkeys;
  let ada: Awaited<ReturnType<typeof enrolled>>;
  beforeAll(async () => {
    world = await startPasskeys('sqlite', { BASE_URL });
    ada = await enrolled(world);
  });
  afterAll(() => world.stop());

  it('have the relying party of BASE_URL, whatever a request says of itself', async () => {
    const headers = { host: 'evil.example', origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' };
    const { server } = world;
    const { options } = done(await server.call('POST', `${world.path}/login/start`, {}, undefined, headers));
    assert.equal(options.rpId, 'dns.example.com');
    const created = (await world.registerStart(ada.client)).options;
    assert.deepEqual(created.rp, { name: 'Zoneward', id: 'dns.example.com' });
    done(await world.login(ada.key));
  });

  it('ask for what we rely on', async () => {
    const { options } = await world.registerStart(ada.client);
    assert.equal(options.attestation, 'none');
    assert.deepEqual(options.authenticatorSelection, {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    });
    assert.ok(Buffer.from(options.challenge as string, 'base64url').length >= 32);
    const { id, name } = options.user as { id: string; name: string };
    assert.equal(name, ada.username);
    assert.equal(id, ada.key.userHandle);
    assert.equal(Buffer.from(id, 'base64url').length, 32);
    const other = (await world.registerStart((await world.person()).client)).options.user as { id: string };
    assert.notEqual(other.id, id);
  });

  it('begin a login in the same way for every name, and without one', async () => {
    const { username } = await world.person();
    const shapes = [];
    for (const name of [ada.username, username, 'nobody-of-that-name', undefined]) {
      const { challenge_id, options } = await world.loginStart(name);
      assert.match(challenge_id, /^[0-9a-f]{64}$/);
      const { challenge, ...others } = options;
      assert.ok(challenge);
      shapes.push(JSON.stringify(others));
    }
    assert.deepEqual(
      [...new Set(shapes)],
      ['{"rpId":"dns.example.com","timeout":300000,"userVerification":"required"}'],
    );
  });

  it('refuse a login that is forged in any part, in the same words', async () => {
    const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const eve = await enrolled(world);
    const FORGERIES: [string, Forgery, RegExp][] = [
      ['another RP id', { rpId: 'evil.example' }, /RP ID/],
      ['another origin', { origin: 'https://evil.example' }, /origin/],
      ['another scheme', { origin: 'http://dns.example.com' }, /origin/],
      ['another port', { origin: `${ORIGIN}:8443` }, /origin/],
      ['a page in a foreign page', { crossOrigin: true }, /another origin/],
      ['a registration', { type: 'webauthn.create' }, /type/],
      ['another challenge', { challenge: randomBytes(32).toString('base64url') }, /challenge/],
      ['no challenge', { challenge: '' }, /challenge/],
      ['no user verification', { flags: FLAGS.up }, /verif/],
      ['no user presence', { flags: FLAGS.uv }, /present/],
      ['flags changed after the signature', { flags: FLAGS.up, tamper: setFlag(FLAGS.uv) }, /signature/],
      ['counter changed after the signature', { counter: 1, tamper: (data) => data.fill(0x7f, 33, 37) }, /signature/],
      ['another key', { key: foreign }, /signature/],
      ['the key of another user', { key: eve.key.keys.privateKey }, /signature/],
      ['the credential of another user', { id: eve.key.id }, /user handle/],
      ["another user's handle", { userHandle: eve.key.userHandle }, /user handle/],
      ['an unknown credential', { id: randomBytes(32).toString('base64url') }, /unknown passkey/],
      ['the counter as it is', { counter: ada.key.counter }, /counter went backwards/],
      ['a counter of zero', { counter: 0 }, /counter went backwards/],
    ];
    for (const [what, forgery, why] of FORGERIES) {
      const { challenge_id, options } = await world.loginStart();
      const answer = await world.loginFinish(challenge_id, ada.key.get(options, forgery));
      refusedLogin(answer, what);
      assert.match((await world.reason(answer)) ?? '', why, what);
      // the challenge is used up by the failure
      refusedLogin(await world.loginFinish(challenge_id, ada.key.get(options)), what);
    }
    for (const challenge of ['0'.repeat(64), 'x', (await world.registerStart(ada.client)).challenge_id]) {
      const { options } = await world.loginStart();
      refusedLogin(await world.loginFinish(challenge, ada.key.get(options)), challenge);
    }
    done(await world.login(ada.key));
  });

  it('verify the signature before the counter', async () => {
    const { challenge_id, options } = await world.loginStart();
    const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const answer = await world.loginFinish(challenge_id, ada.key.get(options, { key: foreign, counter: 1 }));
    refusedLogin(answer);
    assert.match((await world.reason(answer)) ?? '', /wrong signature/);
  });

  it('refuse a registration that is forged in any part', async () => {
    const other = await world.person();
    const before = done(await ada.client.get(world.path));
    const FORGERIES: [string, Forgery][] = [
      ['another RP id', { rpId: 'evil.example' }],
      ['another origin', { origin: 'https://evil.example' }],
      ['a page in a foreign page', { crossOrigin: true }],
      ['a login', { type: 'webauthn.get' }],
      ['another challenge', { challenge: randomBytes(32).toString('base64url') }],
      ['no user verification', { flags: FLAGS.up | FLAGS.at }],
      ['no user presence', { flags: FLAGS.uv | FLAGS.at }],
      ['no credential', { flags: FLAGS.up | FLAGS.uv }],
      ['another id', { id: randomBytes(32).toString('base64url') }],
      ['a short id', { credentialId: Buffer.alloc(15, 1) }],
      ['a long id', { credentialId: Buffer.alloc(1024, 1) }],
      ['an unknown algorithm', { publicKey: new Map([[1, 2], [3, -47]]) }], // biome-ignore format: a map
      ['a huge key', { publicKey: rsa(4000) }],
      ['no key', { publicKey: new Map() }],
    ];
    for (const [what, forgery] of FORGERIES) {
      const { challenge_id, options } = await world.registerStart(ada.client);
      const key = new SoftAuthenticator(ORIGIN);
      const finish = (response: unknown) =>
        ada.client.post(`${world.path}/register/finish`, { challenge_id, response });
      const answer = await finish(key.create(options, forgery));
      assert.deepEqual([answer.status, answer.code], [400, 400001], `${what}: ${answer.msg}`);
      // the challenge is used up by the failure
      assert.equal((await finish(key.create(options))).status, 400, what);
    }
    // a challenge of another user, of another session, of a login
    const finish = (client: Client, challenge_id: string, response: unknown) =>
      client.post(`${world.path}/register/finish`, { challenge_id, response });
    for (const thief of [other.client, await ada.again()]) {
      const { challenge_id, options } = await world.registerStart(ada.client);
      refused(await finish(thief, challenge_id, new SoftAuthenticator(ORIGIN).create(options)), 400, 400001);
    }
    const { options } = await world.registerStart(ada.client);
    const login = await world.loginStart();
    const mixed = new SoftAuthenticator(ORIGIN).create({ ...options, challenge: login.options.challenge });
    refused(await finish(ada.client, login.challenge_id, mixed), 400, 400001);
    assert.deepEqual(done(await ada.client.get(world.path)), before);
    assert.deepEqual(done(await other.client.get(world.path)), []);
  });

  it('answer bodies of any shape with a refusal', async () => {
    const { options } = await world.registerStart(ada.client);
    const good = new SoftAuthenticator(ORIGIN).create(options);
    for (const [what, response] of oddBodies(good)) {
      const { challenge_id } = await world.registerStart(ada.client);
      const answer = await ada.client.post(`${world.path}/register/finish`, { challenge_id, response });
      assert.deepEqual([answer.status, answer.code], [400, 400001], `registration, ${what}: ${answer.msg}`);
    }
    const login = await world.loginStart();
    for (const [what, response] of oddBodies(ada.key.get(login.options))) {
      const { challenge_id } = await world.loginStart();
      const answer = await world.loginFinish(challenge_id, response);
      if (what === 'prototype' || what.includes('{"a":{"a"')) {
        // such names, and such depths, are refused wherever they stand, before anything looks at the response
        refused(answer, 400, 400001);
        continue;
      }
      assert.equal(answer.status, 401, `login, ${what}: ${answer.status} ${answer.msg}`);
      refusedLogin(answer, what);
    }
    for (const body of [undefined, {}, [], { challenge_id: 5, response: {} }, { challenge_id: 'x', response: 'text' }])
      for (const [route, client] of Object.entries({ 'register/finish': ada.client, 'login/finish': world.admin }))
        refused(await client.post(`${world.path}/${route}`, body), 400, 400001);
    refused(await world.loginFinish('x', [1]), 400, 400001);
    for (const username of [5, '', {}, ['ada'], 'x'.repeat(65)])
      refused(await world.server.call('POST', `${world.path}/login/start`, { username }), 400, 400001);
    const { challenge_id } = await world.loginStart();
    const huge = { challenge_id, response: { ...good, more: 'A'.repeat(1_100_000) } };
    refused(await world.server.call('POST', `${world.path}/login/finish`, huge), 413, 413001);
    assert.doesNotMatch(world.server.log, /internal error/);
    done(await world.login(ada.key));
  });

  it('ignore what they do not know in a response', async () => {
    const { challenge_id, options } = await world.loginStart();
    const { response, ...frame } = ada.key.get(options);
    const newer = {
      ...frame,
      authenticatorAttachment: 'platform',
      clientExtensionResults: { largeBlob: { blob: 'x' } },
      some: { day: [1] },
      response: { ...response, future: { field: true } },
    };
    done(await world.loginFinish(challenge_id, newer));
  });

  it('are accepted with any attestation, which is not read', async () => {
    // biome-ignore format: a map
    const statement = new Map<string, number | Uint8Array>([['alg', -7], ['sig', randomBytes(70)], ['x5c', randomBytes(500)]]);
    for (const format of ['packed', 'tpm', 'android-key', 'apple', 'fido-u2f', 'of-next-year']) {
      const person = await world.person();
      const key = new SoftAuthenticator(ORIGIN);
      const { challenge_id, options } = await world.registerStart(person.client);
      const response = key.create(options, { attestation: [format, statement] });
      made(await person.client.post(`${world.path}/register/finish`, { challenge_id, response }));
      done(await world.login(key));
    }
  });

  it('accept names of one line, and choose free ones', async () => {
    const { client } = await world.person();
    const { challenge_id, options } = await world.registerStart(client);
    const response = new SoftAuthenticator(ORIGIN).create(options);
    const BAD = ['', ' ', ' x', 'x ', 'a\nb', 'a\u2028b', 'a\u0007b', 'x'.repeat(65), 5, ['x']];
    for (const name of BAD)
      refused(await client.post(`${world.path}/register/finish`, { challenge_id, response, name }), 400, 400001);
    const first = made(await client.post(`${world.path}/register/finish`, { challenge_id, response }));
    assert.equal(first.name, 'Passkey 1');
    for (const name of [...BAD, null, undefined])
      refused(await client.patch(`${world.path}/${first.id}`, { name }), 400, 400001);
    const long = '\u540d'.repeat(64);
    done(await client.patch(`${world.path}/${first.id}`, { name: long }));
    assert.equal((await world.register(client, new SoftAuthenticator(ORIGIN))).name, 'Passkey 1');
    assert.equal((await world.register(client, new SoftAuthenticator(ORIGIN))).name, 'Passkey 2');
    assert.deepEqual(
      done(await client.get(world.path)).map(({ name }) => name),
      [long, 'Passkey 1', 'Passkey 2'],
    );
  });

  it('are not for API tokens', async () => {
    const { token } = made(await world.admin.post('/api/tokens', { name: 'ci' }));
    const ci = world.server.as(token);
    for (const answer of [
      await ci.get(world.path),
      await ci.post(`${world.path}/register/start`, {}),
      await ci.post(`${world.path}/register/finish`, { challenge_id: 'x', response: {} }),
      await ci.patch(`${world.path}/1`, { name: 'x' }),
      await ci.delete(`${world.path}/1`),
    ])
      refused(answer, 403, 403001);
  });

  it('limit the rate of strangers', async () => {
    done(await world.admin.put('/api/settings/security', { rate_limits: { public: 3 } }));
    try {
      const finish = () => world.server.call('POST', `${world.path}/login/finish`, { challenge_id: 'x', response: {} });
      for (let i = 0; i < 3; i++) refusedLogin(await finish());
      refused(await finish(), 429, 429001);
    } finally {
      await world.unlimited();
    }
  });
});

describe('passkeys on an IP address', () => {
  it('say that they need a host name', async () => {
    const world = await startPasskeys('sqlite', { BASE_URL: 'https://192.0.2.1' });
    try {
      const starts = [
        await world.admin.post(`${world.path}/register/start`, {}),
        await world.server.call('POST', `${world.path}/login/start`, {}),
      ];
      for (const answer of starts) assert.match(refused(answer, 409, 409001).msg, /host name/);
    } finally {
      await world.stop();
    }
  });
});

function setFlag(flag: number): (authenticatorData: Buffer) => void {
  return (data) => {
    data[32] = (data[32] as number) | flag;
  };
}

/** An RSA key of so many bytes. */
const rsa = (bytes: number) =>
  new Map<number, number | Uint8Array>([
    [1, 3],
    [3, -257],
    [-1, randomBytes(bytes)],
    [-2, Buffer.from([1, 0, 1])],
  ]);
