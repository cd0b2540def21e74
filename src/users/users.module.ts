import { Module } from '@nestjs/common';
import { UsersRepository } from './users.repository.js';
import { UsersService } from './users.service.js';

const PROVIDERS = [UsersRepository, UsersService];

@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class UsersModule {}
