import { Module } from '@nestjs/common';
import { DnsClient } from './dns-client.service.js';

@Module({ providers: [DnsClient], exports: [DnsClient] })
export class DnsClientModule {}
