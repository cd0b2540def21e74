import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { asProviderError, errorHooks, errorIn, needed, neededList } from '../../../src/providers/kit/http/errors.js';

function caught(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('errors of vendors', () => {
  it('are one or several, with a code or words alone', () => {
    const hooks = errorHooks((body) => body as never, { auth: [/key/], not_found: [7] });
    assert.equal(hooks.failed(undefined), false);
    assert.equal(hooks.failed(false), false);
    assert.equal(hooks.failed([]), false);
    assert.equal(hooks.errorMessage({ message: 'no key' }), 'no key');
    assert.equal(hooks.errorKind(200, { message: 'no key' }), 'auth');
    assert.equal(hooks.errorMessage([{ code: 7, message: 'gone' }, { message: 'x' }]), 'gone (code 7); x');
    assert.equal(hooks.errorKind(200, [{ code: 7, message: 'gone' }]), 'not_found');
    assert.equal(hooks.errorKind(200, { code: '7', message: '' }), undefined);
  });

  it('stand in two fields, where the code is none of success', () => {
    const of = errorIn('code', 'msg', [0, 200]);
    for (const fine of [null, undefined, {}, { code: 200 }, { code: 0 }, { code: null }, { code: '' }, 'text', []]) {
      assert.equal(of(fine), false);
    }
    assert.deepEqual(of({ code: 500, msg: 'x' }), { code: 500, message: 'x' });
    assert.deepEqual(of({ code: 'No' }), { code: 'No', message: '' });
  });

  it('say that an answer is of another form where the language says it', () => {
    const read = (zone: { name: string } | null) =>
      asProviderError(caught(() => (zone as { name: string }).name.trim()));
    for (const zone of [null, { name: 1 as never }])
      assert.match(read(zone).message, /^The provider's answer is of another form: /);
    assert.equal(asProviderError(caught(() => new URL('x'))).message, 'Invalid URL');
  });

  it('are parts that are missing', () => {
    assert.equal(needed('x', 'id'), 'x');
    for (const none of [undefined, null, '', 0, false] as const) {
      assert.throws(() => needed(none, 'id'), { kind: 'unavailable', message: /has no id/ });
    }
    assert.deepEqual(neededList([], 'list'), []);
    for (const none of [undefined, null, {}, 'x']) {
      assert.throws(() => neededList(none as never, 'list'), { kind: 'unavailable' });
    }
  });
});
