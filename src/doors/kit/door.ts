import type { FrontDoor } from '../../access/doors.js';

/** The configuration of a tool for a door. */
export interface Snippet {
  name: string;
  snippet: string;
}

/** What `GET /api/doors` says of a door. */
export interface DoorDescription {
  key: FrontDoor;
  /** below the public address of the service */
  path: string;
  /** in words: how a caller is authenticated */
  auth: string;
  /** @param url of the door */
  tools: (url: string) => Snippet[];
}

/** Where snippets expect the token: nobody is shown one twice. */
export const TOKEN = '$ZONEWARD_TOKEN';
