import { Injectable } from '@nestjs/common';
import { type Caller, hasScope, type Scope } from '../../access/access.js';
import { FRONT_DOORS, type FrontDoor } from '../../access/doors.js';
import { networkOf } from '../../platform/common/cidr.js';
import { errors } from '../../platform/common/errors.js';
import { DatabaseService } from '../../platform/database/database.service.js';
import { Installation } from '../../platform/database/installation.js';
import { RateCounts } from '../../platform/rates/rate-counts.js';
import { SettingsService } from '../../settings/settings.service.js';
import { UsersService } from '../../users/users.service.js';
import { ApiTokenStrategy } from './strategies.js';

/** @throws AppError 403001 */
export function assertScope(services: readonly string[], scope: Scope | null): void {
  if (!hasScope(services, scope))
    throw errors.forbidden('scope_missing', { scope: String(scope) }, { required: scope });
}

/**
 * What every caller passes, whichever way it comes. Those who come by no route, but by a listener that a door has for
 * itself, pass it here, with the checks that a route has from its guards.
 */
@Injectable()
export class Admission {
  constructor(
    private readonly database: DatabaseService,
    private readonly users: UsersService,
    private readonly installation: Installation,
    private readonly settings: SettingsService,
    private readonly tokens: ApiTokenStrategy,
    private readonly rates: RateCounts,
  ) {}

  /** @throws AppError 503001 */
  async assertReady(): Promise<void> {
    if (!this.database.configured) throw errors.notReady('setup_needed');
    if (!this.database.open) throw errors.notReady('database_down', 5);
    if (!(await this.users.someExist())) throw errors.notReady('administrator_needed');
  }

  /** @throws AppError 503001 when the schema is of another version, or a copy would write to providers */
  assertMayChange(toProviders: boolean): void {
    const { unfit } = this.database;
    if (unfit) throw errors.notReady('schema_unfit', 30, { words: unfit });
    if (toProviders) this.installation.assertWorks();
  }

  /** Whether a door is open. @throws AppError 503001 */
  async isOpen(door: FrontDoor): Promise<boolean> {
    await this.assertReady();
    return (await this.settings.read('doors'))[door].enabled;
  }

  /**
   * Lets a token in at the door of the caller, who has proved to have it.
   * @returns false: it has ended, or whoever made it
   * @throws AppError 403001 where it may not be used from there or at this door
   */
  async letIn(caller: Caller & { door: FrontDoor }, tokenId: number): Promise<boolean> {
    const { scope } = FRONT_DOORS[caller.door];
    const principal = await this.tokens.ofId(tokenId, caller.ip, scope);
    if (!principal) return false;
    caller.principal = principal;
    assertScope(principal.token?.allowedServices ?? [], scope);
    return true;
  }

  /** Counts a request of a token that was let in. @param changes of records @throws AppError 429001 */
  async count({ principal }: Caller, changes: number): Promise<void> {
    if (!principal?.ratePerMinute) return;
    const key = `token|${principal.token?.id}`;
    const { refused, seconds } = await this.rates.evenly(key, principal.ratePerMinute, changes);
    if (refused) throw errors.tooMany(refused, seconds);
  }

  /** Counts a request of somebody unknown at a door. @returns whether the network has sent too many */
  async isStrangerRefused(door: FrontDoor, ip: string): Promise<boolean> {
    const { public: limit } = (await this.settings.securityFor(null)).rate_limits;
    return limit > 0 && (await this.rates.evenly(`${door}|${networkOf(ip)}`, limit, 0)).refused !== null;
  }
}
