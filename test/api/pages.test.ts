import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { noChromium, type Pages, startPages } from '../support/chromium.js';
import { linkToken, type MailWorld, startMailWorld } from '../support/mail.js';
import { type Idp, startIdp } from '../support/oidc.js';
import { describeUnless } from '../support/suites.js';
import { enrol } from '../support/totp.js';
import { done } from '../support/world.js';

const NEW_PASSWORD = 'a-wholly-new-one-417';

describeUnless(noChromium)('the pages that mails and providers lead to', () => {
  let world: MailWorld;
  let idp: Idp;
  let browser: Pages;
  let home: string;
  beforeAll(async () => {
    world = await startMailWorld('sqlite');
    browser = await startPages();
    home = world.service.server.url.replace('127.0.0.1', 'localhost');
    idp = await startIdp(`${home}/oauth/callback`, { ann: { preferred_username: 'ann' } });
    const { issuer, clientId: client_id, clientSecret: client_secret } = idp;
    const provider = { key: 'corp', name: 'Corp', issuer, client_id, client_secret, auto_create: true };
    done(await world.service.admin.put('/api/settings/oauth', { enabled: true, providers: [provider] }));
  });
  afterAll(async () => {
    await browser?.stop();
    await idp?.stop();
    await world?.stop();
  });

  it('of a reset mail changes the password, and forgets the token', async () => {
    const { mails } = await world.up();
    const username = await world.person();
    await world.ask(username);
    await world.state(username, 'sent');
    const token = linkToken(mails[0]?.text ?? '');
    const page = await browser.open(`${home}/reset-password#token=${token}`);
    const change = async (password: string, again = password) => {
      await page.fill('input[name=password]', password);
      await page.fill('input[name=again]', again);
      await page.click('button');
    };
    await change(NEW_PASSWORD, 'another');
    await page.getByText('The two passwords differ').waitFor();
    await change('short');
    await page
      .locator('output')
      .filter({ hasText: /^password: / })
      .waitFor();
    await change(NEW_PASSWORD);
    await page.getByText('The password is changed').waitFor();
    assert.equal(page.url(), `${home}/reset-password`);
    await world.service.server.login({ username, password: NEW_PASSWORD });
    const again = await browser.open(`${home}/reset-password#token=${token}`);
    await again.fill('input[name=password]', NEW_PASSWORD);
    await again.fill('input[name=again]', NEW_PASSWORD);
    await again.click('button');
    await again.getByText(/expired|invalid|used/i).waitFor();
  });

  it('of a sign-in elsewhere finishes it, asks for the second factor, and keeps no code in the address', async () => {
    const signIn = async () => {
      const page = await browser.open(`${home}/oauth/callback`);
      await page.getByText('Begin the sign-in again').waitFor();
      // as text, for it runs in the page
      const start = await page.evaluate(`fetch('/api/auth/oauth/start', {
        method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}',
      }).then((answer) => answer.json())`);
      const { auth_url } = (start as { data: { auth_url: string } }).data;
      const query = new URLSearchParams(await idp.visit(auth_url, 'ann'));
      await page.goto(`${home}/oauth/callback?${query}`);
      return page;
    };
    const page = await signIn();
    await page.getByText('Signed in as ann').waitFor();
    assert.equal(page.url(), `${home}/oauth/callback`);
    const token = await page.inputValue('textarea');
    const ann = world.service.server.as(token);
    assert.equal(done(await ann.get('/api/auth/me')).username, 'ann');

    const { recovery } = await enrol(ann);
    const second = await signIn();
    await second.getByText('Enter the code').waitFor();
    await second.fill('input[name=code]', 'wrong-code');
    await second.click('button');
    await second.getByText(/wrong|not right|invalid/i).waitFor();
    await second.fill('input[name=code]', recovery[0] as string);
    await second.click('button');
    await second.getByText('Signed in as ann').waitFor();
  });

  it('load nothing else, and run no script but their own', async () => {
    for (const path of ['/reset-password', '/oauth/callback']) {
      const answer = await fetch(home + path);
      const policy = answer.headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'; script-src 'sha256-/);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.doesNotMatch(policy, /unsafe/);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      assert.doesNotMatch(await answer.text(), /(src|href)=/);
    }
  });
});
