import { afterAll, beforeAll, it } from '@jest/globals';
import { Authenticator, noChromium } from '../support/chromium.js';
import { ConsoleBrowser } from '../support/console.js';
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
    service = await startService('sqlite');
    browser = await ConsoleBrowser.start(service.server.url.replace('127.0.0.1', 'localhost'));
  });
  afterAll(async () => {
    await browser?.stop();
    await service?.stop();
  });

  it('sign in from the list of the name field without a click, and by the button', async () => {
    const { page } = await browser.openAs('/');
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const authenticator = await Authenticator.plugIn(page, true);
    await page.evaluate(REGISTER);
    const signOut = async () => {
      await page.getByRole('button', { name: /your menu/ }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
    };
    // the virtual authenticator answers what waits in the list at once
    await signOut();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await authenticator.answers(false);
    await signOut();
    const button = page.getByRole('button', { name: 'Sign in with a passkey' });
    await button.click();
    await authenticator.answers(true);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });

  it('are not offered where the address is none that browsers know them at', async () => {
    const plain = await ConsoleBrowser.start(service.server.url);
    try {
      const { page } = await plain.open('/sign-in');
      await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    } finally {
      await plain.stop();
    }
  });
});
