import { Module } from '@nestjs/common';
import { UsersModule } from '../users/users.module.js';
import { InitController } from './init.controller.js';
import { InitService } from './init.service.js';

@Module({ imports: [UsersModule], controllers: [InitController], providers: [InitService] })
export class InitModule {}
