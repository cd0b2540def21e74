import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import type { ArgumentMetadata } from '@nestjs/common';
import {
  IsArray,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
  MinLength,
} from 'class-validator';
import { allOf, errors, fieldError, fieldErrorsOf } from '../../src/platform/common/errors.js';
import { assertUnchanged, same, TakesBack } from '../../src/platform/common/read-only.js';
import { alsoJudge, validationPipe } from '../../src/platform/common/validation.js';
import { type FieldError } from '../../src/platform/common/words/codes.js';

class Body {
  @IsString()
  @IsNotEmpty()
  @MinLength(3)
  @MaxLength(5)
  name?: string;

  @Max(9)
  @Min(1)
  @IsInt()
  size?: number;

  @IsOptional()
  @IsArray()
  @IsIn(['a', 'b'], { each: true })
  list?: string[];
}

const asBody: ArgumentMetadata = { type: 'body', metatype: Body };
const problems = async (body: unknown): Promise<FieldError[]> =>
  validationPipe()
    .transform(body, asBody)
    .then(() => [], fieldErrorsOf);

describe('of several broken rules', () => {
  const CASES: [object, string][] = [
    [{}, 'name required; size required'],
    [{ name: '', size: 5 }, 'name required'],
    [{ name: 5, size: 'x' }, 'name format; size format'],
    [{ name: 'x', size: 0 }, 'name length {"min":3,"max":5}; size range {"min":1,"max":9}'],
    [{ name: 'abc', size: 0.5 }, 'size format'],
    [{ name: 'abc', size: 1, list: 'x' }, 'list format'],
    [{ name: 'abc', size: 1, list: ['x', 5] }, 'list choice {"values":["a","b"]}'],
    [{ name: 'abc', size: 1, more: 1 }, 'more unknown'],
    [{ name: 'abc', size: 1, list: null }, ''],
  ];
  for (const [body, expected] of CASES) {
    it(`of ${JSON.stringify(body)} the most telling is said, with its bounds`, async () => {
      const said = (await problems(body)).map(
        ({ path, code, params }) => `${path} ${code}${params ? ` ${JSON.stringify(params)}` : ''}`,
      );
      assert.equal(said.join('; '), expected);
    });
  }

  it('what a service adds is about the fields that are right so far', async () => {
    const seen: unknown[] = [];
    alsoJudge(Body, (good) => {
      seen.push(good);
      return [fieldError('name', 'is not a known field', 'duplicate')];
    });
    const list = await problems({ name: 'abc', size: 0 });
    assert.deepEqual(seen, [{ name: 'abc' }]);
    assert.deepEqual(
      list.map((e) => [e.path, e.code]),
      [
        ['size', 'range'],
        ['name', 'duplicate'],
      ],
    );
    // what is right is left to the service itself
    assert.deepEqual(await problems({ name: 'abc', size: 1 }), []);
    assert.equal(seen.length, 1);
  });
});

describe('checks of one change', () => {
  const wrong = (path: string) => () => Promise.reject(errors.field(path, 'is needed'));
  it('answer together when all are good', async () => {
    assert.deepEqual(
      await allOf(
        () => 1,
        async () => 'two',
        () => null,
      ),
      [1, 'two', null],
    );
  });
  it('are all told when they are not', async () => {
    const list = await allOf(wrong('a'), () => 1, wrong('b')).then(() => [], fieldErrorsOf);
    assert.deepEqual(
      list.map((e) => e.path),
      ['a', 'b'],
    );
  });
  it('let another failure pass', () =>
    assert.rejects(
      allOf(() => Promise.reject(errors.notFound('team'))),
      { status: 404 },
    ));
});

describe('what an answer has and a change cannot make', () => {
  class Base {
    id!: number;
    static _OPENAPI_METADATA_FACTORY = () => ({ id: { type: () => Number }, tags: { type: () => [String] } });
  }
  class View extends Base {
    static override _OPENAPI_METADATA_FACTORY = () => ({ name: { type: () => String } }) as never;
  }
  class Patch {
    @IsOptional()
    @IsString()
    name?: string;
  }
  TakesBack(View)(Patch);
  const patch = (fields: object) => Object.assign(new Patch(), fields);
  const current = { id: 1, tags: ['a', { x: 1, y: 2 }], name: 'old' };

  it('may be left out, or sent as it is, in any order of its fields', () => {
    for (const fields of [{}, { name: 'new' }, { id: 1 }, { id: undefined }, { tags: ['a', { y: 2, x: 1 }] }])
      assertUnchanged(patch(fields), current);
  });
  it('is named when it differs', () => {
    for (const [fields, paths] of [
      [{ id: 2, tags: [] }, ['id', 'tags']],
      [{ id: '1' }, ['id']],
      [{ id: null }, ['id']],
    ] as const) {
      assert.throws(
        () => assertUnchanged(patch(fields), current),
        (error) => {
          assert.deepEqual(
            fieldErrorsOf(error).map((e) => `${e.path} ${e.code}`),
            paths.map((path) => `${path} read_only`),
          );
          return true;
        },
      );
    }
  });
  it('is compared as JSON has it', () => {
    assert.ok(same({ a: 1, b: undefined }, { a: 1 }));
    assert.ok(!same({ a: 1, b: null }, { a: 1 }));
    assert.ok(same(undefined, undefined));
    assert.ok(!same([1, 2], [2, 1]));
  });
});
