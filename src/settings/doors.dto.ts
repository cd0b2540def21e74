import { PartialType } from '@nestjs/swagger';
import { IsBoolean, IsOptional } from 'class-validator';
import type { FrontDoor } from '../access/doors.js';
import { Nested } from '../platform/common/validation.js';

class DoorSwitch {
  /** false: nothing answers there, to nobody */
  @IsBoolean()
  enabled!: boolean;
}

class DoorSwitchInput extends PartialType(DoorSwitch) {}

/** Which doors are open. */
export class DoorsSettings implements Record<FrontDoor, DoorSwitch> {
  httpreq!: DoorSwitch;
  'acme-dns'!: DoorSwitch;
  dyndns2!: DoorSwitch;
  'external-dns'!: DoorSwitch;
  'ddns-go'!: DoorSwitch;
  certd!: DoorSwitch;
  rfc2136!: DoorSwitch;
  webhook!: DoorSwitch;
  powerdns!: DoorSwitch;
}

export class DoorsInput implements Partial<Record<FrontDoor, DoorSwitchInput>> {
  @IsOptional()
  @Nested(() => DoorSwitchInput)
  httpreq?: DoorSwitchInput;

  @IsOptional()
  @Nested(() => DoorSwitchInput)
  'acme-dns'?: DoorSwitchInput;

  @IsOptional()
  @Nested(() => DoorSwitchInput)
  dyndns2?: DoorSwitchInput;

  @IsOptional()
  @Nested(() => DoorSwitchInput)
  'external-dns'?: DoorSwitchInput;

  @IsOptional()
  @Nested(() => DoorSwitchInput)
  'ddns-go'?: DoorSwitchInput;

  @IsOptional()
  @Nested(() => DoorSwitchInput)
  certd?: DoorSwitchInput;

  @IsOptional()
  @Nested(() => DoorSwitchInput)
  rfc2136?: DoorSwitchInput;

  @IsOptional()
  @Nested(() => DoorSwitchInput)
  webhook?: DoorSwitchInput;

  @IsOptional()
  @Nested(() => DoorSwitchInput)
  powerdns?: DoorSwitchInput;
}
