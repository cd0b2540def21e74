import { Injectable } from '@nestjs/common';
import { FRONT_DOORS, type FrontDoor } from '../access/doors.js';
import { SettingsService } from '../settings/settings.service.js';
import { acmeDns } from './acme-dns/acme-dns.js';
import type { DoorView } from './doors.dto.js';
import { dyndns2 } from './dyndns2/dyndns2.js';
import { externalDns } from './external-dns/external-dns.js';
import { httpreq } from './httpreq/httpreq.js';
import type { DoorDescription } from './kit/door.js';
import { certd, ddnsGo } from './panel/panel.js';
import { powerdns } from './powerdns/powerdns.js';
import { webhook } from './webhook/webhook.js';

const DESCRIPTIONS: { [K in FrontDoor]: DoorDescription } = {
  httpreq,
  'acme-dns': acmeDns,
  dyndns2,
  'external-dns': externalDns,
  'ddns-go': ddnsGo,
  certd,
  webhook,
  powerdns,
};

@Injectable()
export class DoorsService {
  constructor(private readonly settings: SettingsService) {}

  async list(): Promise<DoorView[]> {
    const [open, base] = await Promise.all([this.settings.read('doors'), this.settings.publicUrl()]);
    return Object.values(DESCRIPTIONS).map(({ key, path, auth, tools }) => {
      const url = base + path;
      return { key, enabled: open[key].enabled, url, scope: FRONT_DOORS[key].scope, auth, tools: tools(url) };
    });
  }
}
