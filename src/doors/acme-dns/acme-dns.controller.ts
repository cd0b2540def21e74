import { Body, Get, HttpCode, Post } from '@nestjs/common';
import { Access, type Caller, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { Protocol } from '../../platform/http/protocol.js';
import { type Registered, RegistrationInput, TextInput } from './acme-dns.dto.js';
import { ACME_DNS } from './acme-dns.protocol.js';
import { AcmeDnsService } from './acme-dns.service.js';

@Protocol(ACME_DNS)
export class AcmeDnsController {
  constructor(private readonly door: AcmeDnsService) {}

  @Post('register')
  @HttpCode(201)
  @Access({ scope: 'acme', narrowed: true })
  @Audited('door.register')
  register(@Body() body: RegistrationInput, @Me() me: Caller): Promise<Registered> {
    return this.door.register(me, body);
  }

  @Post('update')
  @HttpCode(200)
  @Access({ scope: 'acme', narrowed: true, proof: 'acme-dns' })
  @Audited('record.create')
  update(@Body() body: TextInput, @Me() me: Caller): Promise<{ txt: string }> {
    return this.door.update(me, body);
  }

  @Get('health')
  @Access({ public: true, rate: 'public' })
  health(): string {
    return '';
  }
}
