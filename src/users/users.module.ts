import { Module } from '@nestjs/common';
import { Passwords } from './passwords.js';
import { UsersRepository } from './users.repository.js';
import { UsersService } from './users.service.js';

const PROVIDERS = [Passwords, UsersRepository, UsersService];

@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class UsersModule {}
