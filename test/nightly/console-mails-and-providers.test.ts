import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { noChromium } from '../support/chromium.js';
import { assertSound, ConsoleBrowser, signIn } from '../support/console.js';
import { linkToken, type MailWorld, startMailWorld } from '../support/mail.js';
import { type Idp, startIdp } from '../support/oidc.js';
import { describeUnless } from '../support/suites.js';
import { codeOf, enrol, wrongCode } from '../support/totp.js';
import { done, made } from '../support/world.js';

const NEW_PASSWORD = 'a-wholly-new-one-417';
const PASSWORD = 'violet-harbour-92';

describeUnless(noChromium)('where mails and providers lead to, in the console', () => {
  let world: MailWorld;
  let idp: Idp;
  let browser: ConsoleBrowser;
  let home: string;
  beforeAll(async () => {
    world = await startMailWorld('sqlite');
    home = world.service.server.url.replace('127.0.0.1', 'localhost');
    browser = await ConsoleBrowser.start(home);
    idp = await startIdp(`${home}/oauth/callback`, { ann: { preferred_username: 'ann' } });
    const { issuer, clientId: client_id, clientSecret: client_secret } = idp;
    const provider = { key: 'corp', name: 'Corp', issuer, client_id, client_secret, auto_create: true };
    done(await world.service.admin.put('/api/settings/oauth', { enabled: true, providers: [provider] }));
  });
  afterEach(() => browser?.leave());
  afterAll(async () => {
    await browser?.stop();
    await idp?.stop();
    await world?.stop();
  });

  it('a mail is asked for, and its link changes the password once, and leaves the address at once', async () => {
    const { mails } = await world.up();
    const username = await world.person();
    const { page } = await browser.open('/reset');
    await page.getByLabel('User name or mail address').fill(username);
    await page.getByRole('button', { name: 'Send the mail' }).click();
    await page.getByText(/the mail is on its way/).waitFor();
    await world.state(username, 'sent');
    const token = linkToken(mails[0]?.text ?? '');
    await page.goto('about:blank');
    await page.goto(`${home}/reset#token=${token}`);
    const change = async (password: string, again = password) => {
      await page.getByLabel('New password', { exact: true }).fill(password);
      await page.getByLabel('Once more').fill(again);
      await page.getByRole('button', { name: 'Change it' }).click();
    };
    await change(NEW_PASSWORD, 'another');
    await page.getByText('The two passwords differ').waitFor();
    assert.equal(page.url(), `${home}/reset`);
    await change('short');
    await page.getByText('must have 10 to 128 characters').waitFor();
    await change(NEW_PASSWORD);
    await page.getByText('The password is changed').waitFor();
    await world.service.server.login({ username, password: NEW_PASSWORD });
    await page.goto('about:blank');
    await page.goto(`${home}/reset#token=${token}`);
    await change(NEW_PASSWORD);
    await page
      .getByRole('alert')
      .getByText(/used, or older than 30 minutes/)
      .waitFor();
  });

  it('a sign-in elsewhere comes back to where it began, by the second factor, and keeps no code in the address', async () => {
    const visit = await browser.open('/tokens');
    const { page } = visit;
    const elsewhere = async () => {
      // the pages of the provider are gone through without the browser
      await page.route(`${idp.issuer}/**`, (route) => route.fulfill({ body: 'the provider' }));
      await page.getByRole('button', { name: 'Sign in with Corp' }).click();
      await page.getByText('the provider').waitFor();
      await page.goto(`${home}/oauth/callback?${new URLSearchParams(await idp.visit(page.url(), 'ann'))}`);
    };
    await elsewhere();
    await page.getByRole('heading', { name: 'API tokens', level: 1 }).waitFor();
    assert.equal(page.url(), `${home}/tokens`);
    const [ann] = done(await world.service.admin.get('/api/users?keyword=ann'));
    assert.equal(ann.username, 'ann');

    done(await world.service.admin.put(`/api/users/${ann.id}`, { password: PASSWORD }));
    const { recovery } = await enrol(
      world.service.server.as(await world.service.server.login({ username: 'ann', password: PASSWORD })),
    );
    await page.goto(`${home}/domains`);
    await elsewhere();
    await page.getByLabel('Code').fill('wrong-code');
    assert.equal(page.url(), `${home}/oauth/callback`);
    await page.getByRole('button', { name: 'Go on' }).click();
    await page
      .getByRole('alert')
      .getByText(/code is wrong/)
      .waitFor();
    await assertSound(visit);
    await page.getByLabel('Code').fill(recovery[0] as string);
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('heading', { name: 'Domains', level: 1 }).waitFor();
  });

  it('a sign-in by password asks for the code of the app', async () => {
    made(await world.service.admin.post('/api/users', { username: 'grace', password: PASSWORD }));
    const grace = world.service.server.as(await world.service.server.login({ username: 'grace', password: PASSWORD }));
    const { secret, recovery } = await enrol(grace);
    const { page } = await browser.open('/domains');
    await signIn(page, { username: 'grace', password: PASSWORD });
    await page.getByLabel('Code').fill(await wrongCode(secret));
    await page.getByRole('button', { name: 'Go on' }).click();
    await page
      .getByRole('alert')
      .getByText(/code is wrong/)
      .waitFor();
    await page.getByLabel('Code').fill(recovery[1] as string);
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('heading', { name: 'Domains', level: 1 }).waitFor();
  });

  it('who needs a second factor and has none sets one up, and goes on', async () => {
    made(await world.service.admin.post('/api/users', { username: 'hedy', password: PASSWORD }));
    done(await world.service.admin.put('/api/settings/security', { require_2fa_role: 1 }));
    try {
      const visit = await browser.open('/domains');
      const { page } = visit;
      await signIn(page, { username: 'hedy', password: PASSWORD });
      const secret = await page.locator('code').innerText();
      await assertSound(visit);
      await page.getByLabel('Six digits that the app shows').fill(await codeOf(secret));
      await page.getByRole('button', { name: 'Check the code' }).click();
      await page.getByRole('list', { name: 'Recovery codes' }).waitFor();
      await page.getByRole('button', { name: 'I have kept them' }).click();
      await page.getByRole('heading', { name: 'Domains', level: 1 }).waitFor();
    } finally {
      await world.service.admin.put('/api/settings/security', { require_2fa_role: null });
    }
  });
});
