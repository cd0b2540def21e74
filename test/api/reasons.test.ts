import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { Controller, Get, Param } from '@nestjs/common';
import { Access } from '../../src/access/access.js';
import { AppError, because } from '../../src/platform/common/errors.js';
import { CODES } from '../../src/platform/common/words/codes.js';
import { isReason, type Params, REASONS, type Reason, wordsOf } from '../../src/platform/common/words/reasons.js';
import { type Service, startServiceWith } from '../support/server.js';
import { done } from '../support/world.js';

/** A value for each place in the words of a reason. */
const valuesOf = (reason: Reason): Params => {
  const names = [...REASONS[reason].en.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  return Object.fromEntries(names.map((name) => [name, name === 'what' ? 'domain' : `<${name}>`]));
};

@Controller('reasons-of-a-test')
class ReasonsController {
  @Get(':reason')
  @Access({ public: true })
  fail(@Param('reason') reason: string): never {
    assert.ok(isReason(reason));
    const { status, code } = CODES[REASONS[reason].kind];
    const data = reason === 'method_not_allowed' ? { methods: ['GET'] } : {};
    const params = valuesOf(reason);
    throw new AppError(status, code, wordsOf('en', reason, params), because(reason, params, data));
  }
}

describe('the reason of an error', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startServiceWith('sqlite', [ReasonsController]);
  });
  afterAll(() => service?.stop());

  const ask = async (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) => {
    const response = await fetch(`${service.server.url}${path}`, { ...init, headers });
    const body = (await response.json()) as { code: number; msg: string; data: { reason: string; errors?: unknown } };
    return { ...body, status: response.status, headers: response.headers };
  };
  const json = { 'content-type': 'application/json' };
  const post = (body: unknown) => ({ method: 'POST', body: JSON.stringify(body) });
  const chinese = { 'accept-language': 'zh-CN,zh;q=0.9,en;q=0.8' };

  it.each(Object.keys(REASONS) as Reason[])('%s is sent with its words in both languages', async (reason) => {
    const path = `/api/reasons-of-a-test/${reason}`;
    const { status, code } = CODES[REASONS[reason].kind];
    for (const [language, header] of [['en', 'en'] as const, ['zh', chinese['accept-language']] as const]) {
      const answer = await ask(path, { 'accept-language': header });
      assert.deepEqual([answer.status, answer.code, answer.data.reason], [status, code, reason]);
      const values = valuesOf(reason);
      const english = wordsOf('en', reason, values);
      const kind = REASONS[reason].kind;
      const shown = kind === 'provider' && language === 'zh' ? { ...values, words: english } : values;
      assert.equal(answer.msg, wordsOf(language, reason, shown));
      assert.equal(answer.headers.get('content-language'), language);
      assert.match(answer.headers.get('vary') ?? '', /Accept-Language/i);
    }
  });

  it('tells apart what has one code, at the routes of the service', async () => {
    const seen = async (path: string, init?: RequestInit, headers: Record<string, string> = json) => {
      const english = await ask(path, headers, init);
      const other = await ask(path, { ...headers, ...chinese }, init);
      assert.equal(other.data.reason, english.data.reason);
      assert.match(other.msg, /\p{Script=Han}/u, other.msg);
      return `${english.code} ${english.data.reason}`;
    };
    assert.equal(await seen('/api/domains'), '401001 no_token');
    assert.equal(await seen('/api/domains', {}, { authorization: 'Bearer x.y.z' }), '401001 session_invalid');
    assert.equal(await seen('/api/domains', {}, { authorization: 'Bearer svc_x' }), '401001 api_token_invalid');
    const wrong = { username: 'nobody', password: 'wrong-password' };
    assert.equal(await seen('/api/auth/login', post(wrong)), '401001 wrong_credentials');
    assert.equal(await seen('/api/nothing'), '404001 not_found');
    assert.equal(await seen('/api/auth/login', { method: 'PATCH' }), '405001 method_not_allowed');
    const large = { method: 'POST', body: `{"username":"${'x'.repeat(1_100_000)}"}` };
    assert.equal(await seen('/api/auth/login', large), '413001 body_too_large');
  });

  it('is written in the language of the user where no header says another', async () => {
    done(await service.admin.put('/api/security/profile', { language: 'zh' }));
    const missing = await service.admin.get('/api/domains/999999');
    assert.equal(missing.msg, '域名不存在');
    assert.deepEqual(missing.data, { reason: 'not_found', params: { what: 'domain' } });
    done(await service.admin.put('/api/security/profile', { language: 'en' }));
    assert.equal((await service.admin.get('/api/domains/999999')).msg, 'Domain does not exist');
  });
});
