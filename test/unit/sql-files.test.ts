import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';
import ts from 'typescript';
import { sources } from '../support/rooms.js';

/** Where SQL stands: repositories, entities (what a restore does with their rows), and what knows the databases. */
const ALLOWED = /\.(repository|entity)\.ts$|^platform\/(database|schema|dump)\//;
const SQL = /^\s*(SELECT\s|INSERT INTO\s|UPDATE\s+\w+\s+SET\s|DELETE FROM\s|WITH\s+\w+\s+AS\s)/;

/** The lines of a source whose texts begin as a statement does. */
function statements(name: string, text: string): string[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const isText = ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateHead(node);
    if (isText && SQL.test(node.text)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      found.push(`${name}:${line + 1}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

describe('SQL', () => {
  it('stands in repositories', () => {
    const others = sources().filter((file) => !ALLOWED.test(file));
    const found = others.flatMap((file) => statements(file, readFileSync(join(process.cwd(), 'src', file), 'utf8')));
    assert.deepEqual(found, []);
  });

  it('is found in plain texts and in templates', () => {
    const lines = ["const a = 'SELECT 1';", 'const b = `UPDATE x SET y = $', 'const c = `', '  DELETE FROM x`;'];
    const text = [lines[0], `${lines[1]}{a}\`;`, ...lines.slice(2), "const d = 'SELECTED';"].join('\n');
    assert.deepEqual(statements('a.ts', text), ['a.ts:1', 'a.ts:2', 'a.ts:3']);
  });
});
