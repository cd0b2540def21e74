import { ApiProperty } from '@nestjs/swagger';
import { FRONT_DOORS, type FrontDoor } from '../access/doors.js';
import { SCOPES, type Scope } from '../access/scopes.js';

export class DoorToolView {
  /** of the tool */
  name!: string;
  /** ready to be pasted; the token is left as `$ZONEWARD_TOKEN` */
  snippet!: string;
}

export class DoorView {
  @ApiProperty({ enum: Object.keys(FRONT_DOORS) })
  key!: FrontDoor;
  enabled!: boolean;
  url!: string;
  /** scope that a token needs there */
  @ApiProperty({ enum: SCOPES })
  scope!: Scope;
  /** how a caller is authenticated */
  auth!: string;
  tools!: DoorToolView[];
}
