import type { Express, Response } from 'express';
import { sha256Base64 } from '../platform/common/hash.js';

/** The script of both pages, which find the API relative to their own address. */
const SCRIPT = `
const api = new URL(document.body.dataset.root + 'api/', location.href);
const say = (text) => { document.querySelector('output').textContent = text; };
const send = async (path, body) => {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(new URL(path, api), init);
  return answer.json();
};
const onSubmit = (work) => document.querySelector('form').addEventListener('submit', (event) => {
  event.preventDefault();
  work(new FormData(event.target)).catch(() => say('Zoneward cannot be reached. Try again.'));
});

const reset = () => {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
  if (!token) return say('This address is not whole. Use the link of the mail.');
  document.querySelector('form').hidden = false;
  onSubmit(async (form) => {
    if (form.get('password') !== form.get('again')) return say('The two passwords differ.');
    const { code, msg } = await send('auth/password-reset/confirm', { token, password: form.get('password') });
    if (code !== 0) return say(msg);
    history.replaceState(null, '', location.pathname);
    document.querySelector('form').hidden = true;
    say('The password is changed. Sign in with it.');
  });
};

const signedIn = ({ user, token }) => {
  say('Signed in as ' + user.username + '. The token of this session, for the API:');
  const field = document.querySelector('textarea');
  field.value = token;
  field.hidden = false;
};
const callback = async () => {
  const given = new URLSearchParams(location.search);
  const known = ['state', 'code', 'iss', 'error'].filter((name) => given.has(name));
  history.replaceState(null, '', location.pathname);
  if (!given.has('state')) return say('This address is not whole. Begin the sign-in again.');
  const body = Object.fromEntries(known.map((name) => [name, given.get(name)]));
  const { code, msg, data } = await send('auth/oauth/callback', body);
  if (code === 0) return data.bound ? say('The account is bound to yours.') : signedIn(data);
  if (code !== -2) return say(msg);
  say('Enter the code of your authenticator app, or a recovery code.');
  document.querySelector('form').hidden = false;
  onSubmit(async (form) => {
    const typed = String(form.get('code')).trim();
    const proof = /^[0-9]{6}$/.test(typed) ? { totpCode: typed } : { recoveryCode: typed };
    const second = await send('auth/second-factor', { challenge_id: data.challenge_id, ...proof });
    if (second.code !== 0) return say(second.msg);
    document.querySelector('form').hidden = true;
    signedIn(second.data);
  });
};
if (document.body.dataset.page === 'reset') reset();
else callback().catch(() => say('Zoneward cannot be reached. Try again.'));
`;

const STYLE = 'body{font:1rem/1.5 system-ui;max-width:30rem;margin:4rem auto;padding:0 1rem}label{display:block}';

const page = (name: string, root: string, title: string, form: string): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>${STYLE}</style>
<body data-page="${name}" data-root="${root}"><h1>${title}</h1>
<form hidden>${form}</form><p><output></output></p><textarea hidden readonly rows="8" cols="40"></textarea>
<noscript>This page needs JavaScript.</noscript><script>${SCRIPT}</script></body></html>`;

const password = (name: string, label: string) =>
  `<label>${label} <input type="password" name="${name}" autocomplete="new-password" required></label>`;

const PAGES = {
  '/reset-password': page(
    'reset',
    '',
    'New password',
    `${password('password', 'New password')}${password('again', 'Once more')}<button>Change it</button>`,
  ),
  '/oauth/callback': page(
    'callback',
    '../',
    'Sign-in',
    '<label>Code <input name="code" autocomplete="one-time-code" required></label><button>Go on</button>',
  ),
};

const POLICY = [
  "default-src 'none'",
  `script-src 'sha256-${sha256Base64(SCRIPT)}'`,
  `style-src 'sha256-${sha256Base64(STYLE)}'`,
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The minimal pages that mails and OAuth providers link to, which work without the console. */
export function servePages(front: Express): void {
  // a string would also match the path with a final slash, from which a page would look for the API elsewhere
  for (const [path, html] of Object.entries(PAGES))
    front.get(new RegExp(`^${path}$`), (_request, response: Response) => {
      response.setHeader('Content-Security-Policy', POLICY);
      response.type('html').send(html);
    });
}
