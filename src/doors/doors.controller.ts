import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access } from '../access/access.js';
import { DoorView } from './doors.dto.js';
import { DoorsService } from './doors.service.js';

@ApiTags('Doors')
@Controller('doors')
export class DoorsController {
  constructor(private readonly doors: DoorsService) {}

  /**
   * The doors by which tools of other protocols come in, each with what to paste into the configuration of its tools.
   */
  @Get()
  @Access({})
  list(): Promise<DoorView[]> {
    return this.doors.list();
  }
}
