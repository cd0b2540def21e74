import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from '@jest/globals';
import ts from 'typescript';
import { readRooms } from '../support/rooms.js';

/**
 * Queries that read a table of another room, each with its reason: where one statement must see both sides, or where a
 * service would be asked for each row. A write has no such list: what changes a table is a method of its room, called
 * with the transaction's manager.
 */
const READS: Record<string, Record<string, string>> = {
  'accounts/deletion-blockers.repository.ts': {
    domains: 'what keeps a domain from being deleted, in the transaction of its deletion; domains are above accounts',
    change_sets: 'the same',
    record_changes: 'the same',
  },
  'accounts/dns-accounts.repository.ts': {
    domains: 'counts what an account has; domains are above accounts',
    team_members: 'who may use an account, with the account, in one statement',
    teams: 'whether a team exists',
    tunnels: 'counts what is deleted with an account, in the transaction of its deletion; tunnels are above accounts',
  },
  'accounts/domain-readers.repository.ts': {
    domains:
      'who could read what is deleted, also with an account, in the transaction of its deletion; domains are above accounts',
    domain_permissions: 'the same',
  },
  'auth/second-factor/second-factors.repository.ts': {
    passkeys: 'whether there is one to be shown as second factor; that room stands on this one',
  },
  'auth/sessions/sessions.repository.ts': {
    users: 'a session, its user and the settings are one statement for each request; so are the networks of a name',
    settings: 'the same',
  },
  'platform/database/installation.ts': { jobs: 'whether somebody works on this database; jobs stand on it' },
  'monitoring/delegation/delegations.repository.ts': {
    domains: 'the names of those that are due, also of those that were never checked',
  },
  'domains/domain-permissions.repository.ts': {
    teams: 'rights on a domain are listed and searched by the names of the teams',
  },
  'domains/domain-state.repository.ts': {
    dns_accounts: 'whether the account has other credentials by now, with the lock of the domain in one transaction',
  },
  'domains/domain-summaries.repository.ts': {
    dns_accounts: 'domains are counted by their provider and by how their accounts are synchronised, in one statement',
    dns_records: 'how far a page of some domains reaches is asked of each of them in one statement',
  },
  'domains/domains.repository.ts': {
    dns_accounts: 'a domain and its account are one row of every answer',
    users: 'the role of the owner, with the domain in one statement',
  },
  'domains/readable-domains.repository.ts': {
    dns_accounts: 'a domain and its account are one row of every answer, and a list is narrowed to a provider',
    team_members: 'the grants of a user, in the statement that decides each request',
    users: 'whether a user owns any domain, as one of the sources of a list',
  },
  'domains/shared-zones.repository.ts': {
    dns_accounts: 'domains are one zone where their accounts are of one server; that is one statement for each change',
    change_sets: 'whether one of the zone has no known end, in the same statement; changes stand on domains',
    trashed_domains: 'the rules of a zone hold while one of its domains is in the trash; the trash stands on domains',
  },
  'monitoring/expiry/certificates.repository.ts': {
    domains: 'which domains ask for it, with their hosts, in one statement',
    dns_records: 'the hosts with addresses, of all such domains in one statement',
  },
  'monitoring/failover/failover-rules.repository.ts': {
    domains: 'the owner of a rule’s domain, who has the slots of its checks, and stands for a maker that is not known',
  },
  'moves/moves.repository.ts': {
    domains: 'whether either domain was changed since they were compared, of all moves in one statement',
  },
  'changes/history/change-sets.repository.ts': {
    domains: 'the account of what is to be settled; sets outlive their domains',
  },
  'changes/history/listed-change-sets.repository.ts': {
    domains: 'sets are shown with the name of their domain, and those of a domain that is gone are not',
  },
  'changes/history/past.repository.ts': {
    dns_records: 'what a version held is found from the rows of now, in one statement with the changes since',
    domains: 'the records of now are counted in the same statement as the changes since',
  },
  'teams/team-members.repository.ts': { users: 'members are listed, sorted and searched by their names' },
  'teams/teams.repository.ts': {
    dns_accounts: 'a team is shown with the accounts it was given; accounts stand on teams',
  },
  'tokens/grants.repository.ts': {
    identities: 'whether a sign-in elsewhere counts as a second factor; that room stands on this one',
    domains: 'what gives a right on a domain, in words',
    domain_permissions: 'the same',
    teams: 'the same',
    team_members: 'the same',
  },
  'tokens/api-tokens.repository.ts': {
    users: 'a token, its creator and the settings are one statement for each request',
    settings: 'the same',
  },
  'trash/trashed-domains.repository.ts': {
    dns_accounts: 'a deleted domain and its account are one row of the list',
    team_members: 'whether the new owner of a name may see its history is decided in the statement that finds it',
    users: 'the same',
  },
  'users/users.repository.ts': {
    passkeys: 'whether a sign-in method is left is one statement under the lock of the user; passkeys stand on users',
    identities: 'the same; identities stand on users',
  },
};

/** A file, by its path in src/, and its text. */
type Sources = Record<string, string>;

const WRITES = new Set([
  'insert',
  'update',
  'delete',
  'save',
  'upsert',
  'remove',
  'softDelete',
  'softRemove',
  'increment',
  'decrement',
  'clear',
]);
const READING = /^(find|count|exist|sum|average|minimum|maximum)/;

const ROOMS = Object.keys(readRooms());

/** The room that a file stands in: the innermost. */
const roomOf = (file: string): string =>
  ROOMS.filter((room) => file.startsWith(`${room}/`)).toSorted((a, b) => b.length - a.length)[0] ?? dirname(file);

/** Tables and entity classes with the room that has them. */
function owners(sources: Sources) {
  const rooms = new Map<string, string>();
  const tables = new Map<string, string>();
  for (const [file, text] of Object.entries(sources)) {
    for (const [, table, name] of text.matchAll(/@Entity\('(\w+)'\)[\s\S]*?\bclass (\w+)/g)) {
      rooms.set(table as string, roomOf(file));
      tables.set(name as string, table as string);
    }
  }
  return { rooms, tables };
}

/** The text of a string or template, `?` for what is put into it. */
function textOf(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return node.head.text + node.templateSpans.map((span) => `?${span.literal.text}`).join('');
}

/**
 * What the files outside of the platform's database rooms do with tables of other rooms: `<file> <table>`, and what
 * cannot be told.
 */
function crossings(sources: Sources) {
  const { rooms, tables } = owners(sources);
  const writes = new Set<string>();
  const reads = new Set<string>();
  const unclear = new Set<string>();
  for (const [file, text] of Object.entries(sources)) {
    // dumps hold every table, and restores fill it before the service runs
    if (/^platform\/(schema\/migrations\/|dump\/|database\/(db|database\.module)\.ts)/.test(file)) continue;
    const note = (into: Set<string>, table: string | undefined, what: string) => {
      const room = table && rooms.get(table);
      if (!room) unclear.add(`${file}: ${what}`);
      else if (room !== roomOf(file)) into.add(`${file} ${table}`);
    };
    const sql = (words: string) => {
      for (const [what, table] of words.matchAll(
        /\b(?:INSERT (?:IGNORE )?INTO|(?<!FOR )UPDATE|DELETE FROM|TRUNCATE|REPLACE INTO|MERGE INTO)\s+(\S+)/g,
      ))
        note(writes, table, what);
      // a name that is none of ours is an alias or a part of the statement that stands elsewhere
      for (const [, table] of words.matchAll(/(?:(?<!DELETE )\bFROM|\bJOIN)\s+(\w+)/g))
        if (rooms.has(table as string)) note(reads, table, words);
      const [, first] = /^(\w+)(?: \w+)? (?:ON|JOIN|WHERE)\b/.exec(words) ?? [];
      if (first && rooms.has(first)) note(reads, first, words);
    };
    const visit = (node: ts.Node): void => {
      const words = textOf(node);
      if (words !== null) sql(words);
      if ((ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node)) && /^from$/i.test(node.name.getText()))
        sql(`FROM ${node.initializer ? (textOf(node.initializer) ?? '') : ''}`);
      if (ts.isCallExpression(node)) call(node);
      ts.forEachChild(node, visit);
    };
    const call = ({ expression, arguments: args }: ts.CallExpression): void => {
      const what = expression.getText();
      const [first, second] = args;
      const entity = first && ts.isIdentifier(first) ? tables.get(first.text) : undefined;
      if (/(^|\.)(InjectRepository|getRepository)$/.test(what)) note(writes, entity, what);
      if (!ts.isPropertyAccessExpression(expression)) return;
      const method = expression.name.text;
      const on = expression.expression.getText();
      if (method === 'lock' && /\bdb$/.test(on)) note(writes, (second && textOf(second)) ?? undefined, what);
      // builders and raw statements of TypeORM would go past all this
      if (/^createQueryBuilder$/.test(method)) unclear.add(`${file}: ${what}`);
      // whatever the manager is called: an entity of ours comes first
      if (!entity && !/manager$/i.test(on)) return;
      if (WRITES.has(method)) note(writes, entity, what);
      else if (READING.test(method)) note(reads, entity, what);
    };
    visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  }
  return { writes: [...writes], reads: [...reads], unclear: [...unclear] };
}

const ROOT = join(process.cwd(), 'src');
const SOURCES: Sources = Object.fromEntries(
  readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
);

describe('tables have owners', () => {
  const found = crossings(SOURCES);

  it('every table has a room', () => {
    assert.ok(owners(SOURCES).rooms.size > 20);
  });

  it('nobody writes to a table of another room', () => {
    assert.deepEqual(found.writes, []);
  });

  it('every statement and every call names its table', () => {
    assert.deepEqual(found.unclear, []);
  });

  it('what reads a table of another room is listed with its reason, and nothing else is', () => {
    const listed = Object.entries(READS).flatMap(([file, of]) => Object.keys(of).map((table) => `${file} ${table}`));
    assert.deepEqual(found.reads.sort(), listed.sort());
  });

  it('finds what is planted', () => {
    const entity = "@Entity('users')\n@Index('users_ix', ['id'])\nexport class User {}";
    const planted = (line: string) => crossings({ 'users/user.entity.ts': entity, 'teams/x.ts': line });
    const writes = [
      "db.run('INSERT INTO users (id) VALUES (?)')",
      "db.run('UPDATE users SET id = id')",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
      'db.run(`DELETE FROM users WHERE id IN (${marks})`)',
      "this.db.lock(manager, 'users', { id })",
      'manager.insert(User, row)',
      'tx.insert(User, row)',
      "db.run('INSERT IGNORE INTO users (id) VALUES (?)')",
      'this.db.source.manager.update(User, { id }, row)',
      'class X { constructor(@InjectRepository(User) users: Repository<User>) {} }',
      'source.getRepository(User)',
    ];
    for (const line of writes) assert.deepEqual(planted(line).writes, ['teams/x.ts users'], line);
    const reads = [
      "db.rows('SELECT 1 FROM users')",
      "db.rows('SELECT 1 FROM teams t JOIN users u ON 1 = 1')",
      'manager.findOneBy(User, { id })',
      "const list = { from: 'users u' }",
      "const MINE = 'users u ON u.id = m.user_id'",
    ];
    for (const line of reads) assert.deepEqual(planted(line).reads, ['teams/x.ts users'], line);
    const unclear = [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
      'db.run(`DELETE FROM ${table} WHERE id = ?`)',
      'db.lock(manager, table, { id })',
      'manager.save(user)',
      'manager.createQueryBuilder().delete()',
    ];
    for (const line of unclear) assert.equal(planted(line).unclear.length, 1, line);
    const own = crossings({ 'users/user.entity.ts': entity, 'users/x.ts': writes.join(';\n') });
    assert.deepEqual(own, { writes: [], reads: [], unclear: [] });
  });
});
