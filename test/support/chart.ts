import { createHash } from 'node:crypto';
import { dump, load } from 'js-yaml';

/**
 * Renders the subset of Go templates that the chart uses: values by path, `if`/`else`, `range` over a map, `not`,
 * `quote`, `toYaml`, `sha256sum`, `nindent`, and `-` at braces. Anything else, and a missing value, is an error.
 */
type Scope = Record<string, unknown>;
type Node =
  | { kind: 'text'; text: string }
  | { kind: 'value'; expression: string }
  | { kind: 'if'; expression: string; yes: Node[]; no: Node[] }
  | { kind: 'range'; key: string; value: string; expression: string; body: Node[] };

/** Text and actions alternately; a `-` has removed the white space on its side. */
function tokens(template: string): { text?: string; action?: string }[] {
  const list: { text?: string; action?: string }[] = [];
  let end = 0;
  let eat = false;
  const add = (text: string, eatEnd: boolean) => {
    const left = eat ? text.trimStart() : text;
    list.push({ text: eatEnd ? left.trimEnd() : left });
  };
  for (const found of template.matchAll(/\{\{(-?) ?(.+?) ?(-?)\}\}/g)) {
    add(template.slice(end, found.index), found[1] === '-');
    list.push({ action: (found[2] as string).trim() });
    end = found.index + found[0].length;
    eat = found[3] === '-';
  }
  add(template.slice(end), false);
  return list;
}

const parse = (template: string): Node[] => block(tokens(template), []).nodes;

/** What stands before the matching `else` or `end`. @param rest what is not read yet */
function block(rest: ReturnType<typeof tokens>, closers: string[]): { nodes: Node[]; closer: string } {
  const nodes: Node[] = [];
  for (let next = rest.shift(); next; next = rest.shift()) {
    const { text, action = '' } = next;
    if (text !== undefined) nodes.push({ kind: 'text', text });
    else if (closers.includes(action)) return { nodes, closer: action };
    else nodes.push(nodeOf(action, rest));
  }
  if (closers.length) throw new Error('a block is not closed');
  return { nodes, closer: '' };
}

function nodeOf(action: string, rest: ReturnType<typeof tokens>): Node {
  if (action.startsWith('if ')) {
    const { nodes: yes, closer } = block(rest, ['else', 'end']);
    const no = closer === 'else' ? block(rest, ['end']).nodes : [];
    return { kind: 'if', expression: action.slice(3), yes, no };
  }
  if (!action.startsWith('range ')) return { kind: 'value', expression: action };
  const [, key, value, expression] = /^range (\$\w+), (\$\w+) := (\S+)$/.exec(action) ?? [];
  if (!key || !value || !expression) throw new Error(`not understood: ${action}`);
  return { kind: 'range', key, value, expression, body: block(rest, ['end']).nodes };
}

function lookUp(path: string, scope: Scope): unknown {
  if (!/^(\$\w+|(\.\w+)+)$/.test(path)) throw new Error(`not understood: ${path}`);
  if (path.startsWith('$')) return scope[path];
  let value: unknown = scope;
  for (const name of path.slice(1).split('.')) {
    if (!Object.hasOwn(value as Scope, name)) throw new Error(`there is no ${path}`);
    value = (value as Scope)[name];
  }
  return value;
}

function evaluate(expression: string, scope: Scope): unknown {
  const [first, ...pipes] = expression.split('|').map((part) => part.trim());
  const [, word, path] = /^(not|toYaml) (\S+)$/.exec(first as string) ?? [];
  let value = lookUp(path ?? (first as string), scope);
  if (word === 'not') value = !truthy(value);
  if (word === 'toYaml') value = dump(value).trimEnd();
  for (const pipe of pipes) {
    const indent = /^nindent (\d+)$/.exec(pipe)?.[1];
    if (pipe === 'sha256sum') value = createHash('sha256').update(String(value)).digest('hex');
    else if (pipe === 'quote') value = JSON.stringify(String(value));
    else if (indent) value = `\n${String(value)}`.replaceAll('\n', `\n${' '.repeat(Number(indent))}`);
    else throw new Error(`not understood: ${pipe}`);
  }
  return value;
}

/** Truth in Go templates: nil, zero and empty values are false. */
const truthy = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);

function write(nodes: Node[], scope: Scope): string {
  return nodes
    .map((node) => {
      if (node.kind === 'text') return node.text;
      if (node.kind === 'if') return write(truthy(evaluate(node.expression, scope)) ? node.yes : node.no, scope);
      if (node.kind === 'value') return String(evaluate(node.expression, scope));
      return Object.entries(evaluate(node.expression, scope) as Scope)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, value]) => write(node.body, { ...scope, [node.key]: key, [node.value]: value }))
        .join('');
    })
    .join('');
}

/** Renders a template with these values. @throws Error for an unsupported construct */
export const render = (template: string, scope: Scope): string => write(parse(template), scope);

/** Parses a rendered template; undefined when a condition left it empty. @throws YAMLException */
export const yamlOf = (text: string): unknown => (text.trim() ? load(text) : undefined);
