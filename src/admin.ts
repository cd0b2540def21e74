import { readFileSync } from 'node:fs';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AuditAcceptance } from './audit/accept.service.js';
import { AuditModule } from './audit/audit.module.js';
import { AuditService } from './audit/audit.service.js';
import { checkpointFile, readCheckpoint } from './audit/checkpoint-file.service.js';
import { checkExport, parseCheckpoints } from './audit/export-check.js';
import { PasskeysModule } from './auth/passkeys/passkeys.module.js';
import { PasskeysService } from './auth/passkeys/passkeys.service.js';
import { PasswordModule } from './auth/password/password.module.js';
import { PasswordService } from './auth/password/password.service.js';
import { SecondFactorModule } from './auth/second-factor/second-factor.module.js';
import { SecondFactorService } from './auth/second-factor/second-factor.service.js';
import { SessionsModule } from './auth/sessions/sessions.module.js';
import { Role } from './common/access.js';
import { AppError } from './common/errors.js';
import { randomHex } from './common/hash.js';
import { configureLogger } from './common/logger.js';
import { StartRefused } from './common/start-refused.js';
import { parseConfig, readEnvironment } from './config/config.js';
import { ConfigModule } from './config/config.module.js';
import { DatabaseModule } from './database/database.module.js';
import { DatabaseService } from './database/database.service.js';
import { Db } from './database/db.js';
import { ENTITIES } from './entities.js';
import { FirstAdministrator } from './init/first-administrator.service.js';
import { JobsModule } from './jobs/jobs.module.js';
import { NotificationsModule } from './notifications/notifications.module.js';
import { SettingsModule } from './settings/settings.module.js';
import { SettingsService } from './settings/settings.service.js';
import { LoginsService } from './system/logins.service.js';
import { SystemModule } from './system/system.module.js';
import { hashPassword } from './users/passwords.js';
import { UsersModule } from './users/users.module.js';
import { UsersService } from './users/users.service.js';

const USAGE = `Administration of this installation, for who holds the machine. Run it where the service runs, with the same environment.

  npm run admin -- reset-password <username>   sets a new password, prints it once, ends all sessions
  npm run admin -- unlock <username>           takes away all locks after failed logins
  npm run admin -- disable-2fa <username>      removes the authenticator app, the recovery codes and the passkeys
  npm run admin -- create-admin <username>     makes a super administrator, prints the password once
  npm run admin -- reset-security              puts limits, networks and the like (settings, security) back to the defaults
  npm run admin -- audit-verify <export> [<checkpoints>]
                                               checks an export (ndjson, without filters) of the audit log without the
                                               database, against checkpoints that were kept elsewhere, else the one in
                                               the data directory
  npm run admin -- audit-accept                signs the audit log as it is, after a restoration: checkpoints begin anew
`;

@Module({
  imports: [
    DatabaseModule.forRoot(ENTITIES),
    JobsModule,
    AuditModule,
    SettingsModule,
    NotificationsModule,
    UsersModule,
    SessionsModule,
    PasswordModule,
    SecondFactorModule,
    PasskeysModule,
    SystemModule,
  ],
  providers: [FirstAdministrator],
})
class AdminModule {}

/** Words of the command are wrong, or name nobody. */
class UsageError extends Error {}

/** Commands that are about nobody in particular. */
const NAMELESS = ['reset-security', 'audit-accept'];

/** Without the database. @throws UsageError when the export is not what was written */
async function auditVerify(path: string, checkpoints: string | undefined, dataDir: string): Promise<string> {
  const own = checkpoints === undefined ? await readCheckpoint(checkpointFile(dataDir)) : null;
  const known = checkpoints === undefined ? (own ? [own] : []) : parseCheckpoints(readFileSync(checkpoints, 'utf8'));
  const { first, last, wrong, confirmed } = await checkExport(path, known, !own);
  if (wrong) throw new UsageError(`Broken at entry ${wrong.seq}: ${wrong.reason}.`);
  const keys = [...new Set(known.map((checkpoint) => checkpoint.public_key))].join(', ');
  const against = confirmed
    ? `It agrees with ${confirmed} checkpoint${confirmed === 1 ? '' : 's'}, signed with the key ${keys}.`
    : 'There is no checkpoint of these entries to hold it against: whether all of it was written anew cannot be told.';
  return `Entries ${first} to ${last} are a whole chain. ${against}`;
}

async function main([command, username = '', ...rest]: string[]): Promise<void> {
  configureLogger('error');
  if (!command || command === 'help' || command === '--help') return void process.stdout.write(USAGE);
  const offline = command === 'audit-verify';
  if (Boolean(username) === NAMELESS.includes(command) || rest.length > (offline ? 1 : 0)) throw new UsageError(USAGE);
  const config = parseConfig(readEnvironment(process.cwd()));
  if (offline) return void process.stdout.write(`${await auditVerify(username, rest[0], config.dataDir)}\n`);
  const root = { module: AdminModule, imports: [ConfigModule.forRoot(config)] };
  const app = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  try {
    const database = app.get(DatabaseService);
    await database.start();
    if (!database.open) throw new UsageError('The database is not chosen yet, or is down.');
    const db = app.get(Db);
    const users = app.get(UsersService);
    const known = async () => {
      const user = await users.find({ username_key: username.toLowerCase() });
      if (!user) throw new UsageError(`There is no user ${username}.`);
      return user;
    };
    const password = () => randomHex(12).replace(/(.{6})(?=.)/g, '$1-');
    const commands: Record<string, () => Promise<string>> = {
      'reset-password': async () => {
        const user = await known();
        const fresh = password();
        const hash = await hashPassword(fresh, true);
        const change = { action: 'auth.password_reset', actor: 'system' } as const;
        await db.transaction((manager) => app.get(PasswordService).set(manager, user, hash, change));
        return `New password of ${user.username}: ${fresh}\nAll sessions were ended.`;
      },
      unlock: async () => {
        const count = await app.get(LoginsService).unlock(username, 'system');
        return `${count} lock${count === 1 ? '' : 's'} of ${username} taken away.`;
      },
      'disable-2fa': async () => {
        const user = await known();
        const passkeys = await db.transaction(async (manager) => {
          // who has no password would have no way in without them
          const removed = user.password_hash ? await app.get(PasskeysService).removeAll(manager, user.id) : 0;
          if (!removed && !user.totp_enabled) throw new UsageError(`${user.username} has no second factor.`);
          await app.get(SecondFactorService).remove(manager, user.id);
          const target = { type: 'user', id: user.id, name: user.username };
          const after = { passkeys_removed: removed };
          await app.get(AuditService).write(manager, 'system', { action: 'auth.2fa_disable', target, after });
          return removed;
        });
        return `${user.username} signs in without a second factor now; ${passkeys} passkeys were removed.`;
      },
      'reset-security': async () => {
        await app.get(SettingsService).resetSecurity('system');
        return 'The security settings are the defaults again.';
      },
      'audit-accept': async () =>
        `The audit log is signed as it is, up to entry ${await app.get(AuditAcceptance).accept()}.`,
      'create-admin': async () => {
        const fresh = password();
        const input = { username, password: fresh };
        // the first one comes with the secret that signs logins
        if (await users.someExist()) await users.create(input, Role.Super, 'user.create', 'system');
        else await app.get(FirstAdministrator).create(input, 'system');
        return `Password of ${username}: ${fresh}`;
      },
    };
    const run = Object.hasOwn(commands, command) ? commands[command] : undefined;
    if (!run) throw new UsageError(`There is no command ${command}.\n\n${USAGE}`);
    process.stdout.write(`${await run()}\n`);
  } finally {
    await app.close();
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const plain = [UsageError, AppError, StartRefused].some((kind) => error instanceof kind);
  const words = plain ? (error as Error).message : String(error);
  process.stderr.write(`${words}\n`);
  process.exitCode = 1;
}
