import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { contains, orderBy } from '../../src/platform/common/paging.dto.js';
import { parseTime, positiveId } from '../../src/platform/common/validation.js';

const TIMES: [string, string | null][] = [
  ['2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.678Z'],
  ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
  ['2026-01-02T03:04Z', '2026-01-02T03:04:00.000Z'],
  ['2026-01-02t03:04:05z', '2026-01-02T03:04:05.000Z'],
  ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05.000Z'],
  ['2026-01-02T03:04:05-0530', '2026-01-02T08:34:05.000Z'],
  ['2026-01-02 03:04:05', '2026-01-02T03:04:05.000Z'],
  ['2026-01-02T03:04:05', '2026-01-02T03:04:05.000Z'],
  ['2026-01-02', '2026-01-02T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['  2026-01-02  ', '2026-01-02T00:00:00.000Z'],
  ['2026-01-02T03:04:05.678901Z', '2026-01-02T03:04:05.678Z'],
  ['2026-02-29', null],
  ['2026-02-31', null],
  ['2026-04-31T00:00:00Z', null],
  ['2026-13-01', null],
  ['2026-00-10', null],
  ['2026-01-00', null],
  ['2026-01-02T24:30:00Z', null],
  ['2026-01-02T03:60:00Z', null],
  ['2026-1-2', null],
  ['02.01.2026', null],
  ['1767322800', null],
  ['tomorrow', null],
  ['', null],
  ['9999-12-31T23:59:59-01:00', null],
];

describe('times', () => {
  for (const [text, stored] of TIMES) {
    it(`"${text}" is ${stored ?? 'refused'}`, () => assert.equal(parseTime(text), stored));
  }
});

describe('ids', () => {
  it('are positive integers that a column can hold', () => {
    assert.equal(positiveId('1', 'id'), 1);
    assert.equal(positiveId('2147483647', 'id'), 2147483647);
  });
  for (const text of [
    undefined,
    '',
    '0',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x1',
    ' 1',
    '1 ',
    'abc',
    '2147483648',
    '99999999999',
  ]) {
    it(`refuses ${text === undefined ? 'nothing' : `"${text}"`}`, () => {
      assert.throws(() => positiveId(text, 'recordId'), {
        status: 400,
        code: 400001,
        data: {
          reason: 'invalid_fields',
          errors: [{ path: 'recordId', message: 'must be a positive integer', code: 'format' }],
        },
      });
    });
  }
});

describe('sorting', () => {
  const columns = { id: 'd.id', name: 'd.name' };
  const order = (sort?: string) => orderBy(sort, columns, '-name', 'd.id');

  it('breaks ties by id, in the same direction', () => {
    assert.equal(order('name'), 'd.name ASC, d.id ASC');
    assert.equal(order('-name'), 'd.name DESC, d.id DESC');
    assert.equal(order('-id'), 'd.id DESC');
  });
  it('falls back', () => assert.equal(order(), 'd.name DESC, d.id DESC'));
  for (const sort of ['', 'secret', '--name', 'name; DROP TABLE users', 'constructor', '-toString', '__proto__']) {
    it(`refuses "${sort}"`, () => assert.equal(order(sort), null));
  }
});

describe('search words', () => {
  it('are taken literally, in any case', () => {
    assert.equal(contains('Ab'), '%ab%');
    assert.equal(contains('50%_!'), '%50!%!_!!%');
  });
});
