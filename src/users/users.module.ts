import { Module } from '@nestjs/common';
import { SigningKey } from './signing-key.js';
import { UsersService } from './users.service.js';

@Module({ providers: [UsersService, SigningKey], exports: [UsersService, SigningKey] })
export class UsersModule {}
