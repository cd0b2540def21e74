import { Module } from '@nestjs/common';
import { ProvidersController } from './providers.controller.js';

/** The provider kinds. Accounts turn one into a live provider. */
@Module({ controllers: [ProvidersController] })
export class ProvidersModule {}
