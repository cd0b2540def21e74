import type { ConsoleBrowser, Look, Visit } from './console.js';

/** Opens an address of the console with the session of this JWT, for tests of which the sign-in is no part. */
export async function openSigned(browser: ConsoleBrowser, token: string, path: string, look?: Look): Promise<Visit> {
  const visit = await browser.open('/health/live', look);
  const { hostname } = new URL(browser.url);
  const cookie = { name: 'zoneward_session', value: token, domain: hostname, path: '/api', httpOnly: true };
  await visit.page.context().addCookies([{ ...cookie, sameSite: 'Strict' }]);
  await visit.page.goto(browser.url + path);
  return visit;
}
