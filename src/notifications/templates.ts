import { zoned } from '../platform/common/time-zone.js';

/** The mails of the outbox, with the values that their texts need. */
export interface Templates {
  /** a code that proves that an address can be read */
  code: { code: string; minutes: number };
  /** the link to a new password */
  reset: { username: string; url: string; minutes: number };
  /** somebody signed in from a device that was not seen before */
  'new-device': { username: string; time: string; ip: string; userAgent: string };
  /** the account was locked in a network after too many failures */
  locked: { username: string; time: string; ip: string; minutes: number };
  /** a notice for a channel of mail addresses; `domain` may be empty */
  notice: { event: string; text: string; domain: string; time: string };
}
export type TemplateName = keyof Templates;

/**
 * The templates with a secret, which is valid for its `minutes`. Their mails are sent only through a mail server that a
 * super administrator set or confirmed.
 */
export const SECRET: readonly string[] = ['code', 'reset'] satisfies TemplateName[];

/** All templates: those of the outbox, and the one that tests the settings. */
export interface AllTemplates extends Templates {
  /** sent by an administrator to see whether mail works */
  test: { time: string };
}
export type RenderedName = keyof AllTemplates;

/** A mail without sender and recipient. */
export interface RenderedMail {
  subject: string;
  text: string;
  html: string;
}

/** A paragraph; `link` is the only thing that becomes a link. */
type Paragraph = string | { code: string } | { link: string };
type Draft = [subject: string, ...body: Paragraph[]];
type Writers<L> = { [N in keyof L]: (values: L[N]) => Draft };

const EN: Writers<AllTemplates> = {
  code: ({ code, minutes }) => [
    'your code',
    'Your code is:',
    { code },
    `It is valid for ${minutes} minutes. If you did not ask for it, ignore this mail.`,
  ],
  reset: ({ username, url, minutes }) => [
    'set a new password',
    `Somebody, probably you, asked for a new password for the account ${username}. This link leads to it:`,
    { link: url },
    `It works once, and for ${minutes} minutes. If you did not ask for it, ignore this mail: your password stays as it is.`,
  ],
  'new-device': ({ username, time, ip, userAgent }) => [
    'sign-in from a new device',
    `The account ${username} was used from a device that was not seen before.`,
    `Time: ${time}`,
    `Address: ${ip}`,
    `Device: ${unlinked(userAgent)}`,
    'If this was not you, change your password and end the other sessions at once.',
  ],
  locked: ({ username, time, ip, minutes }) => [
    'sign-in locked',
    `After too many failed attempts, signing in to the account ${username} is locked for ${minutes} minutes for the network that they came from.`,
    `Time: ${time}`,
    `Address: ${ip}`,
    'If this was not you, somebody may be guessing your password. You can still sign in from other networks.',
  ],
  notice: ({ event, text, domain, time }) => [
    `notice of ${event}`,
    text,
    `Event: ${event}`,
    ...(domain ? [`Domain: ${domain}`] : []),
    `Time: ${time}`,
  ],
  test: ({ time }) => ['test mail', 'Mail works: this one was sent to try the settings.', `Time: ${time}`],
};

const ZH: Writers<AllTemplates> = {
  code: ({ code, minutes }) => [
    '您的验证码',
    '您的验证码是：',
    { code },
    `验证码在 ${minutes} 分钟内有效。如果不是您本人的请求，请忽略此邮件。`,
  ],
  reset: ({ username, url, minutes }) => [
    '设置新密码',
    `有人（可能是您本人）请求为账户 ${username} 设置新密码。请打开以下链接：`,
    { link: url },
    `链接只能使用一次，${minutes} 分钟内有效。如果不是您本人的请求，请忽略此邮件，您的密码不会改变。`,
  ],
  'new-device': ({ username, time, ip, userAgent }) => [
    '新设备登录',
    `账户 ${username} 在一台从未使用过的设备上登录。`,
    `时间：${time}`,
    `地址：${ip}`,
    `设备：${unlinked(userAgent)}`,
    '如果不是您本人的操作，请立即修改密码并结束其他会话。',
  ],
  locked: ({ username, time, ip, minutes }) => [
    '登录已锁定',
    `由于失败次数过多，来自该网络的账户 ${username} 登录已被锁定 ${minutes} 分钟。`,
    `时间：${time}`,
    `地址：${ip}`,
    '如果不是您本人的操作，可能有人在猜测您的密码。您仍然可以从其他网络登录。',
  ],
  notice: ({ event, text, domain, time }) => [
    `通知：${event}`,
    text,
    `事件：${event}`,
    ...(domain ? [`域名：${domain}`] : []),
    `时间：${time}`,
  ],
  test: ({ time }) => ['测试邮件', '邮件功能正常：此邮件用于测试设置。', `时间：${time}`],
};

/** Longest value of a mail; links are never cut, and notices were cut before. */
const MAX_VALUE = 300;
const WHOLE = ['url', 'text'];

/**
 * One line without control characters, line ends and invisible marks, such as those that turn the direction of text
 * around.
 */
export function oneLine(text: string): string {
  return text
    .replace(/\p{Cf}+/gu, '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
}

/**
 * Renders a mail. Site name, user names and user agents come from people, so each value becomes one line of plain text.
 * @param language `zh` or starting with `zh-`: Chinese, else English
 * @param timezone in which times are written
 */
export function renderMail<N extends RenderedName>(
  name: N,
  language: string,
  values: AllTemplates[N],
  siteName: string,
  timezone = 'UTC',
): RenderedMail {
  const clean = Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      if (typeof value !== 'string') return [key, value];
      if (key === 'time') return [key, zoned(oneLine(value).slice(0, MAX_VALUE), timezone)];
      return [key, WHOLE.includes(key) ? oneLine(value) : oneLine(value).slice(0, MAX_VALUE)];
    }),
  ) as AllTemplates[N];
  const chinese = /^zh\b/i.test(language);
  const [title, ...body] = (chinese ? ZH : EN)[name](clean);
  const site = oneLine(siteName).slice(0, MAX_VALUE);
  const subject = site ? `${site}${chinese ? '：' : ': '}${title}` : title;
  return {
    subject,
    text: `${[...body.map(plain), `-- \n${site}`].join('\n\n')}\n`,
    html: [
      `<!doctype html><html lang="${chinese ? 'zh' : 'en'}"><head><meta charset="utf-8"><title>${escaped(subject)}</title></head><body>`,
      ...[...body, site].map((part) => `<p>${marked(part)}</p>`),
      '</body></html>\n',
    ].join('\n'),
  };
}

const plain = (part: Paragraph): string =>
  typeof part === 'string' ? part : 'code' in part ? `    ${part.code}` : part.link;

function marked(part: Paragraph): string {
  if (typeof part === 'string') return escaped(part);
  if ('code' in part) return `<strong>${escaped(part.code)}</strong>`;
  const href = escaped(part.link);
  // anything else, such as javascript:, stays text
  return /^https?:\/\//i.test(part.link) ? `<a href="${href}">${href}</a>` : href;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);

/** A stranger's text without anything that mail programs would turn into a link. */
const unlinked = (text: string): string => text.replace(/[.:/](?=[\p{L}/])/gu, '$& ');
