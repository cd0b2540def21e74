import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { mailError, words } from '../../src/notifications/mail-error.js';
import { type AllTemplates, oneLine, type RenderedName, renderMail } from '../../src/notifications/templates.js';

const time = '2026-01-31T12:34:56.789Z';
const VALUES: AllTemplates = {
  code: { code: '123456', minutes: 10 },
  reset: { username: 'ada', url: 'https://dns.example.com/reset#token=ab12', minutes: 30 },
  'new-device': { username: 'ada', time, ip: '192.0.2.1', userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/130.0' },
  locked: { username: 'ada', time, ip: '192.0.2.1', minutes: 15 },
  notice: { event: 'sync.failed', text: 'The account DNS failed', domain: 'example.com', time },
  test: { time },
};
const NAMES = Object.keys(VALUES) as RenderedName[];
const NASTY = 'a\r\nBcc: x@example.com\r\n\r\n<script>alert(1)</script>&"\'\u0000\u0085\u2028\u202eend';

function showsAll(text: string, name: RenderedName): void {
  for (const [key, value] of Object.entries(VALUES[name])) {
    const shown = key === 'time' ? '2026-01-31 12:34 UTC' : String(value);
    assert.ok(text.includes(shown), `${name} ${key}: ${text}`);
  }
}

describe('mail templates', () => {
  it('show all values, in English and in Chinese, as text and as HTML', () => {
    for (const name of NAMES) {
      const [english, chinese] = ['en', 'zh'].map((language) => renderMail(name, language, VALUES[name], 'Site'));
      assert.ok(english && chinese);
      assert.match(english.subject, /^Site: [a-z ]+/);
      assert.match(chinese.subject, /^Site：\p{Script=Han}+(：[a-z.]+)?$/u);
      assert.doesNotMatch(english.text + english.html, /\p{Script=Han}/u);
      for (const text of [english.text, english.html, chinese.text, chinese.html]) showsAll(text, name);
      for (const { subject } of [english, chinese]) assert.doesNotMatch(subject, /123456|token/);
    }
  });

  it('show times in a time zone, with its offset from UTC at that time', () => {
    const timeIn = (timezone: string, at: string) =>
      /^Time: (.*)$/m.exec(renderMail('test', 'en', { time: at }, '', timezone).text)?.[1];
    assert.equal(timeIn('Europe/Berlin', time), '2026-01-31 13:34 UTC+01:00');
    assert.equal(timeIn('Europe/Berlin', '2026-07-31T22:30:00.000Z'), '2026-08-01 00:30 UTC+02:00');
    assert.equal(timeIn('America/St_Johns', time), '2026-01-31 09:04 UTC-03:30');
    assert.equal(timeIn('UTC', time), '2026-01-31 12:34 UTC');
  });

  it('are Chinese for zh and its variants, English otherwise', () => {
    const languageOf = (language: string) => /lang="(\w+)"/.exec(renderMail('test', language, { time }, '').html)?.[1];
    assert.deepEqual(['zh', 'zh-CN', 'ZH-hant', 'en', 'de', '', 'zha'].map(languageOf), [
      'zh',
      'zh',
      'zh',
      'en',
      'en',
      'en',
      'en',
    ]);
  });

  it('let nothing break out of a line or into the markup', () => {
    const nasty: AllTemplates = {
      code: { code: NASTY, minutes: 1 },
      reset: { username: NASTY, url: `https://dns.example.com/#"><script>${NASTY}`, minutes: 1 },
      'new-device': { username: NASTY, time: NASTY, ip: NASTY, userAgent: NASTY },
      locked: { username: NASTY, time: NASTY, ip: NASTY, minutes: 1 },
      notice: { event: NASTY, text: NASTY, domain: NASTY, time: NASTY },
      test: { time: NASTY },
    };
    for (const name of NAMES)
      for (const language of ['en', 'zh']) {
        const mail = renderMail(name, language, nasty[name], NASTY);
        assert.doesNotMatch(mail.subject, /[\p{Cc}\p{Zl}\p{Zp}\u202e]/u);
        assert.doesNotMatch(mail.text, /^(Bcc|<script)|[^\P{Cc}\n]|[\p{Zl}\p{Cf}]/mu);
        assert.doesNotMatch(mail.html, /<script|"'|[^\P{Cc}\n]|[\p{Zl}\p{Cf}]/u);
        assert.equal(mail.html.match(/<a /g)?.length ?? 0, name === 'reset' ? 1 : 0);
      }
  });

  it('link only to the address that was given for it, over HTTP', () => {
    const { html, text } = renderMail('reset', 'en', VALUES.reset, 'Site');
    assert.deepEqual(html.match(/<a [^>]*>/g), [`<a href="${VALUES.reset.url}">`]);
    assert.ok(text.includes(`\n${VALUES.reset.url}\n`));
    const script = renderMail('reset', 'en', { ...VALUES.reset, url: 'javascript:alert(1)' }, 'Site');
    assert.doesNotMatch(script.html, /<a /);
    const device = { ...VALUES['new-device'], userAgent: 'see http://evil.example/x or www.evil.example' };
    assert.doesNotMatch(renderMail('new-device', 'en', device, 'Site').text, /:\/\/|evil\.example/);
  });

  it('keep values short', () => {
    const { text } = renderMail('locked', 'en', { ...VALUES.locked, username: 'x'.repeat(5000) }, 'Site');
    assert.ok(text.length < 1000);
  });
});

describe('failures of mail', () => {
  const explain = (failure: object, secrets: string[] = []) => {
    const { message, permanent } = mailError({ message: 'raw', ...failure }, 'mx.example:25', secrets);
    return `${permanent ? 'permanent' : 'later'}: ${message}`;
  };

  it('are permanent only when recipient or message were refused', () => {
    const said = (command: string, responseCode: number) =>
      explain({ code: 'EENVELOPE', command, responseCode, response: `${responseCode} words` }).split(':')[0];
    assert.deepEqual(
      ['RCPT TO', 'DATA', 'MAIL FROM', 'AUTH PLAIN', 'CONN'].map((command) => said(command, 550)),
      ['permanent', 'permanent', 'later', 'later', 'later'],
    );
    for (const code of [450, 451, 503, 530, 535, 538]) assert.equal(said('RCPT TO', code), 'later');
  });

  it('quote the server on one line, without secrets', () => {
    const response = '550-no\r\n550 pass-word word \u001b[31m';
    assert.equal(words(response, ['word', 'pass-word', '']), '550-no 550 *** *** [31m');
    assert.ok(words('x'.repeat(5000), []).length < 310);
    assert.equal(oneLine(' a\t\r\n b '), 'a b');
  });

  it('do not quote a server that speaks another protocol', () => {
    const failure = { code: 'EPROTOCOL', command: 'CONN', response: 'SSH-2.0-OpenSSH internal banner' };
    assert.equal(explain(failure), 'later: What answers at mx.example:25 is no mail server');
  });
});
