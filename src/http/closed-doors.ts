import type { NextFunction, Request, Response } from 'express';
import type { ZoneRequest } from '../access/access.js';
import type { FrontDoor } from '../access/doors.js';
import { errors } from '../platform/common/errors.js';
import type { DatabaseService } from '../platform/database/database.service.js';
import { currentProtocol } from '../platform/http/protocol.js';
import type { SettingsService } from '../settings/settings.service.js';

/** Middleware of foreign protocols: notes by which door a request comes; where that is closed, nothing is there. */
export function closedDoors(settings: SettingsService, database: DatabaseService) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const door = currentProtocol().door as FrontDoor | undefined;
    if (door) (request as ZoneRequest).caller.door = door;
    // before the setup, and while the database is away, the settings cannot be read; the guard refuses then
    if (!door || !database.open) {
      next();
      return;
    }
    settings
      .read('doors')
      .then(
        ({ [door]: { enabled } }) =>
          next(enabled ? undefined : errors.notFound('route', { method: request.method, path: request.originalUrl })),
        next,
      );
  };
}
