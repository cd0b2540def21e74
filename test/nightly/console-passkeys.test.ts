import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, it } from '@jest/globals';
import { Authenticator, noChromium } from '../support/chromium.js';
import { ConsoleBrowser, signIn } from '../support/console.js';
import { type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';

/** Adds a passkey to the account that is signed in, as the screen of the profile does. */
const REGISTER = `(async () => {
  const headers = { 'content-type': 'application/json', 'x-zoneward-session': 'cookie' };
  const send = async (path, body) => (await (await fetch('/api/auth/webauthn/register/' + path, {
    method: 'POST', headers, body: JSON.stringify(body) })).json()).data;
  const { challenge_id, options } = await send('start', {});
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const response = (await navigator.credentials.create({ publicKey })).toJSON();
  return (await send('finish', { challenge_id, response })).id;
})()`;

describeUnless(noChromium)('passkeys in the console', () => {
  let service: Service;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    service = await startService('sqlite', { HOST: '0.0.0.0' });
    browser = await ConsoleBrowser.start(service.server.url.replace('127.0.0.1', 'localhost'));
  });
  afterAll(async () => {
    await browser?.stop();
    await service?.stop();
  });

  it('sign in from the list of the name field without a click, and by the button', async () => {
    const { page } = await browser.openAs('/');
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await Authenticator.plugIn(page, true);
    await page.evaluate(REGISTER);
    const signOut = async () => {
      await page.getByRole('button', { name: /your menu/ }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
    };
    const answered = (step: string) =>
      page.waitForResponse((answer) => answer.url().endsWith(`/webauthn/login/${step}`));
    // the virtual authenticator answers what waits in the list at once
    let finished = answered('finish');
    await signOut();
    assert.equal((await finished).status(), 200);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    // a browser that has no such list; the sign-out loads the page again
    await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
    await signOut();
    finished = answered('finish');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    assert.equal((await finished).status(), 200);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });

  it('that this address cannot have fail in words, and on plain HTTP the page says what is missing', async () => {
    const near = await ConsoleBrowser.start(service.server.url);
    try {
      const { page } = await near.open('/sign-in');
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page
        .getByRole('alert')
        .getByText(/domain/)
        .waitFor();
    } finally {
      await near.stop();
    }
    // an address that browsers do not trust without https
    const addresses = Object.values(networkInterfaces()).flat();
    const own = addresses.find((one) => one && one.family === 'IPv4' && !one.internal)?.address;
    assert.ok(own, 'this machine has no address but loopback');
    const plain = await ConsoleBrowser.start(service.server.url.replace('127.0.0.1', own));
    try {
      const visit = await plain.open('/');
      const { page } = visit;
      await page.getByText('Passkeys work at an https address only').waitFor();
      assert.equal(await page.evaluate('window.isSecureContext'), false);
      assert.equal(await page.getByRole('button', { name: 'Sign in with a passkey' }).count(), 0);
      await signIn(page);
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Go to' }).fill('example');
      await page.getByRole('option', { name: /Search records/ }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'API calls of this screen' }).click();
      await page.getByRole('button', { name: 'Copy the command' }).first().click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      await page.goto(`${plain.url}/profile`);
      await page.getByText(/Passkeys need an https address/).waitFor();
      assert.deepEqual(visit.complaints, []);
    } finally {
      await plain.stop();
    }
  });
});
