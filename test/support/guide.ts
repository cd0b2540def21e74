import { execFile } from 'node:child_process';

/** A block of commands in a page of documentation. */
export interface Block {
  /** Line of the page where it begins. */
  line: number;
  commands: string;
  /** Status of the failure that its last command ends with, from `sh 412`; undefined: all commands succeed. */
  fails?: number;
  /** The answer that the page shows behind it. */
  shown?: unknown;
}

/** A section of a page that begins with `## `, and its blocks. */
export interface Journey {
  title: string;
  blocks: Block[];
}

/**
 * Reads the blocks of a page: those fenced as `sh`, each followed by the answer it shows, fenced as `json`, if any.
 * @throws Error where a block is of another kind, or an answer has no commands
 */
export function journeysOf(page: string): Journey[] {
  const journeys: Journey[] = [];
  const lines = page.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    if (line.startsWith('## ')) journeys.push({ title: line.slice(3), blocks: [] });
    if (!line.startsWith('```')) continue;
    const end = lines.indexOf('```', at + 1);
    const blocks = journeys.at(-1)?.blocks;
    const text = lines.slice(at + 1, end).join('\n');
    const [, kind, status] = /^```(sh|json)(?: (\d{3}))?$/.exec(line) ?? [];
    const last = blocks?.at(-1);
    if (!blocks || end < 0 || !kind) throw new Error(`line ${at + 1}: a block of no known kind`);
    if (kind === 'sh') blocks.push({ line: at + 1, commands: text, ...(status ? { fails: Number(status) } : {}) });
    else if (last && !('shown' in last)) last.shown = JSON.parse(text);
    else throw new Error(`line ${at + 1}: an answer without commands`);
    at = end;
  }
  return journeys;
}

/** What a shell wrote for each block that it came to, and the status with which that block ended. */
export interface Run {
  outputs: { text: string; status: number }[];
  errors: string;
}

const MARK = '\u001e';

/** Runs blocks one after the other in one shell, which stops at the first command that fails unexpectedly. */
export function runBlocks(shell: string, cwd: string, blocks: readonly Block[]): Promise<Run> {
  const script = blocks.map(({ commands, fails }) =>
    [fails ? 'set +e' : 'set -e', commands, `printf '${MARK}%s${MARK}' "$?"`].join('\n'),
  );
  return new Promise((resolve) => {
    execFile(shell, ['-c', script.join('\n')], { cwd, timeout: 120_000 }, (_, stdout, errors) => {
      const parts = stdout.split(MARK);
      const outputs = [];
      for (let i = 0; i < parts.length; i += 2) {
        outputs.push({ text: parts[i] as string, status: Number(parts[i + 1] ?? -1) });
      }
      if (outputs.length > blocks.length) outputs.pop();
      resolve({ outputs, errors });
    });
  });
}

/** Keys whose values differ from installation to installation: only their types are compared. */
const OWN = /(^|_)(id|ids|at|until)$|^(revision|ip|progress)$/;

/**
 * How an answer differs from the one that a page shows, or null. An answer may hold more members than are shown; a
 * text ending with `…` is the beginning of the real one, and `"…"` as last element of a list stands for any more.
 */
export function difference(shown: unknown, real: unknown, at = 'answer'): string | null {
  const differs = `${at}: ${JSON.stringify(shown)} is shown, ${JSON.stringify(real)?.slice(0, 400)} was answered`;
  if (typeof shown === 'string' && shown.endsWith('…')) {
    return typeof real === 'string' && real.startsWith(shown.slice(0, -1)) ? null : differs;
  }
  if (Array.isArray(shown)) {
    if (!Array.isArray(real)) return differs;
    const open = shown.at(-1) === '…';
    const elements = open ? shown.slice(0, -1) : shown;
    if (open ? real.length < elements.length : real.length !== elements.length) return differs;
    return elements.map((one, i) => difference(one, real[i], `${at}[${i}]`)).find((words) => words) ?? null;
  }
  if (shown && typeof shown === 'object') {
    if (!real || typeof real !== 'object') return differs;
    const members = real as Record<string, unknown>;
    for (const [key, value] of Object.entries(shown)) {
      const words =
        OWN.test(key) && value !== null && typeof value !== 'object'
          ? typeof members[key] === typeof value
            ? null
            : difference(typeof value, typeof members[key], `${at}.${key}`)
          : difference(value, members[key], `${at}.${key}`);
      if (words) return words;
    }
    return null;
  }
  return shown === real ? null : differs;
}
